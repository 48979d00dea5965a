"""The program of an AWS Batch environment: what it registers from its configuration, and what it refuses."""

import json

import pytest

from tests.unit.stacks.stack_programs import Program

ON_DEMAND = {"types": ["p5.48xlarge"], "max": 4, "zones": ["use1-az2"], "placement": "create", "network": "efa"}
SPOT = {"types": ["g5.xlarge"], "max": 8, "zones": ["use1-az1", "use1-az2"], "capacity": "spot"}
CONFIG = {
    "aws:region": "us-east-1",
    "gpufleet:cloud": "aws-batch",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:network": {"zones": ["use1-az1", "use1-az2"]},
    "gpufleet:pools": {"big": ON_DEMAND, "cheap": SPOT},
    "gpufleet:multinode": {"pool": "big"},
    "gpufleet:registry": {"repositories": ["training"]},
}
QUEUE, DEFINITION = "aws:batch/jobQueue:JobQueue", "aws:batch/jobDefinition:JobDefinition"
program = Program("dev", CONFIG)


def environments(made):
    """Queue to the logical names of its environments, in order."""
    return {
        name: [row["computeEnvironment"].split("/")[-1] for row in inputs["computeEnvironmentOrders"]]
        for name, inputs in made.inputs(QUEUE).items()
    }


def arn_of(made, pool):
    return made.outputs[f"dev-{pool}"]["environment_arn"].split("/")[-1]


def test_searches_go_to_spot_first_and_multinode_jobs_have_a_queue_of_their_own():
    reserved = {"capacity": "reservation", "reservation_id": "cr-" + "0" * 17, "placement": "none"}
    pools = {"a": ON_DEMAND, "b": ON_DEMAND, "c": SPOT, "d": ON_DEMAND | reserved}
    made = program(pools={name: pools[name] for name in "bcd"}, multinode={"pool": "b"})
    assert environments(made) == {
        "dev-queue-queue": [arn_of(made, pool) for pool in "dcb"],
        "dev-multinode-queue-queue": [arn_of(made, "b")],
    }
    made = program(pools={name: pools[name] for name in "acd"}, multinode={"pool": "d"})
    assert environments(made)["dev-queue-queue"] == [arn_of(made, pool) for pool in "cad"]


def test_multinode_jobs_go_before_searches_on_the_nodes_of_both():
    for given, single, several in (({}, 1, 2), ({"priority": 5}, 5, 6)):
        made = program(queue=given)
        priorities = {name: inputs["priority"] for name, inputs in made.inputs(QUEUE).items()}
        assert priorities == {"dev-queue-queue": single, "dev-multinode-queue-queue": several}


def test_pools_of_the_queue_can_be_chosen():
    made = program(queue={"pools": ["cheap"]})
    assert environments(made)["dev-queue-queue"] == [arn_of(made, "cheap")]


def test_jobs_get_what_their_nodes_have():
    made = program()
    single = json.loads(made.one(DEFINITION, "dev-job-definition").inputs["containerProperties"])
    wanted = {each["type"]: each["value"] for each in single["resourceRequirements"]}
    # The smallest node of all pools has one GPU.
    assert wanted["GPU"] == "1"
    several = json.loads(made.one(DEFINITION, "dev-multinode-definition").inputs["nodeProperties"])
    (nodes,) = several["nodeRangeProperties"]
    assert nodes["container"]["instanceType"] == "p5.48xlarge"
    assert {each["type"]: each["value"] for each in nodes["container"]["resourceRequirements"]}["GPU"] == "8"
    # All EFA devices of the node.
    assert len(nodes["container"]["linuxParameters"]["devices"]) == 32


def test_jobs_may_write_below_one_folder_and_mount_the_files():
    made = program()
    policy = json.dumps(made.inputs("aws:iam/rolePolicy:RolePolicy")["dev-job-job-bucket"])
    assert "jobs/*" in policy
    rules = made.names("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert {"dev-files-nfs-from-big", "dev-files-nfs-from-cheap"} <= set(rules)


def policies(made, name):
    return json.loads(made.inputs("aws:iam/rolePolicy:RolePolicy")[name]["policy"])["Statement"]


@pytest.mark.parametrize("job", ["job", "multinode"])
def test_jobs_may_use_the_key_of_their_bucket_and_fill_caches(job):
    key = "arn:aws:kms:us-east-1:123456789012:key/own"
    caches = {"repositories": ["training"], "pull_through": {"quay": "quay.io"}}
    made = program(outputs={"kms_key_arn": key}, registry=caches)
    (statement,) = [each for each in policies(made, f"dev-{job}-job-bucket") if each["Sid"] == "Key"]
    assert (statement["Resource"], statement["Action"]) == (key, ["kms:Decrypt", "kms:GenerateDataKey"])
    assert policies(made, f"dev-{job}-start")[-1]["Resource"] == ["arn:aws:ecr:us-east-1:*:repository/quay/*"]
    assert {each["Sid"] for each in policies(program(), f"dev-{job}-job-bucket")} == {"List", "ReadAndWrite"}


def test_jobs_are_told_what_nobody_types():
    told = program().result["jobs"]
    assert (told["on"], told["region"], told["prefix"]) == ("batch", "us-east-1", "jobs")
    assert {key: told["multinode"][key] for key in ("type", "nodes", "gpus")} == {
        "type": "p5.48xlarge",
        "nodes": 4,
        "gpus": 8,
    }
    assert told["pools"]["cheap"] == {k: SPOT[k] for k in ("types", "zones", "max", "capacity")}
    assert "multinode" not in program(multinode=None).result["jobs"]


def test_jobs_are_told_of_their_project_and_its_budgets():
    budgets = {"users": {"ana": {"usd_per_month": 500, "at_end": "warn"}}, "projects": {"p": {"usd_per_month": 40.5}}}
    told = program(budgets=budgets).result["jobs"]
    assert (told["project"], told["budgets"]) == ("training", budgets)
    assert "budgets" not in program().result["jobs"]
    assert program.refusal(budgets={"users": {"ana": {"usd_per_month": 0}}}) == [
        "Pulumi.dev.yaml: gpufleet:budgets.users.ana.usd_per_month=0: must be above 0; give USD per month, such as 500 "
        "[config-value]"
    ]
    assert program.refusal(budgets={"users": {"ana": {"usd_per_month": 1, "at_end": "stop"}}}) == [
        "Pulumi.dev.yaml: gpufleet:budgets.users.ana.at_end='stop': must be 'refuse' or 'warn' [config-value]"
    ]


def test_the_first_job_names_a_team_where_the_queue_has_shares():
    assert " --share " not in program().result["first_job"]
    shares = {"pools": ["cheap"], "shares": {"vision": 3, "speech": 1}}
    assert "jobs submit dev --share speech --follow" in program(queue=shares).result["first_job"]


def test_work_overflows_to_the_next_pool_when_the_first_is_full():
    """Batch itself is not here: its rule, that a job goes to the first environment in order whose limit of vCPUs has
    room for it, is played on what the stack makes.
    https://docs.aws.amazon.com/batch/latest/userguide/job_queue_parameters.html (compute environment order)
    """
    made = program(pools={"first": ON_DEMAND | {"types": ["g5.xlarge"], "max": 2, "network": "plain"}, "next": SPOT},
                     multinode=None)  # fmt: skip
    limits = {
        arn_of(made, pool): made.inputs("aws:batch/computeEnvironment:ComputeEnvironment")[f"dev-{pool}-environment"][
            "computeResources"
        ]["maxVcpus"]
        for pool in ("first", "next")
    }
    job = json.loads(made.one(DEFINITION).inputs["containerProperties"])
    vcpus = next(int(each["value"]) for each in job["resourceRequirements"] if each["type"] == "VCPU")
    order = environments(made)["dev-queue-queue"]
    used = dict.fromkeys(order, 0)
    went = []
    for _ in range(11):
        place = next((each for each in order if used[each] + vcpus <= limits[each]), None)
        went.append(place)
        if place:
            used[place] += vcpus
    spot, following = arn_of(made, "next"), arn_of(made, "first")
    assert went == [spot] * 8 + [following] * 2 + [None]


REFUSED = {
    "a pool that is none": (
        {"queue": {"pools": ["chaep"]}},
        "dev-queue: pools=chaep: is not a pool of the environment; did you mean cheap? (use big or cheap) "
        "[aws-batch-pool-known]",
    ),
    "several nodes on Spot": (
        {"multinode": {"pool": "cheap"}},
        "dev-multinode: pool=[its pool (SPOT)]: a multi-node job stays RUNNABLE forever on its pool (SPOT); add a "
        "queue with managed environments of type EC2 only [aws-batch-multinode-on-demand]",
    ),
    "more nodes than the pool has": (
        {"multinode": {"pool": "big", "nodes": 5}},
        "dev-multinode: nodes=5: is more than the 4 of its pool, so that the job never starts; use 4 or fewer, or "
        "raise the pool's max [aws-batch-multinode-fits]",
    ),
    "one node": (
        {"multinode": {"pool": "big", "nodes": 1}},
        "dev-multinode: nodes=1: is not a multi-node job; use 2 or more, or leave multinode out "
        "[aws-batch-multinode-fits]",
    ),
    "no image": (
        {"registry": {"account_id": "123456789012"}},
        "dev-job: image=null: jobs have none; name a repository (gpufleet:registry.repositories) "
        "[aws-batch-image-given]",
    ),
    "four pools in a queue": (
        {"pools": dict.fromkeys("abcd", SPOT), "multinode": None},
        "dev-queue: environments=4: Batch allows 1 to 3 compute environments in a queue; make another "
        "queue, or one environment [aws-batch-queue-environments]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_before_anything_is_registered(case):
    changes, line = REFUSED[case]
    assert program.refusal(**changes) == line.splitlines()


def test_accesses_to_outputs_are_recorded_where_asked(caplog):
    assert program().inputs("aws:s3/bucketLogging:BucketLogging") == {}
    made = program.run(access_logs=True)
    assert list(made.inputs("aws:s3/bucketLogging:BucketLogging")) == ["dev-outputs-access-logs-of-outputs"]
    assert [each.message for each in caplog.records if "access_logs" in each.message] == [
        "dev-files: access_logs=true: EFS records no reads and writes of files: CloudTrail has the calls of its API "
        "only; keep what needs a record in the outputs bucket of an aws-batch environment, or remove it "
        "[any-access-logs-service]"
    ]
