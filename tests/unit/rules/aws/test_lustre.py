"""Cases of gpufleet.rules.aws.lustre."""

from gpufleet.rules.aws.lustre import (
    lustre_alone,
    lustre_bucket,
    lustre_bucket_path,
    lustre_buckets_apart,
    lustre_clients,
    lustre_efa_metadata,
    lustre_efa_size,
    lustre_efa_used,
    lustre_port,
    lustre_size,
    lustre_throughput,
    lustre_zone,
)

NO_SIZE = "trainers: gib={}: is neither 1200 GiB nor a multiple of 2400; use {} [aws-lustre-size]"
NO_EFA_SIZE = (
    "trainers: gib={}: is not a multiple of {}, which EFA needs at {} MB/s for each TiB; use {}, or leave EFA out "
    "[aws-lustre-efa-size]"
)
NO_TIER = (
    "trainers: throughput={}: is not a throughput tier of PERSISTENT_2; use 125, 250, 500 or 1000 "
    "[aws-lustre-throughput]"
)


def tier(throughput: int, gib: int) -> dict[str, object]:
    return {"argument": "gib", "gib": gib, "throughput": throughput}


CASES = {
    lustre_size: [
        ("least", {"argument": "gib", "gib": 1200}, "pass", ""),
        ("first-step", {"argument": "gib", "gib": 2400}, "pass", ""),
        ("hundredth-step", {"argument": "gib", "gib": 240000}, "pass", ""),
        ("below", {"argument": "gib", "gib": 1199}, "fail", NO_SIZE.format(1199, "1200 or 2400")),
        ("nothing", {"argument": "gib", "gib": 0}, "fail", NO_SIZE.format(0, "1200 or 2400")),
        ("between", {"argument": "gib", "gib": 3600}, "fail", NO_SIZE.format(3600, "2400 or 4800")),
        ("above-a-step", {"argument": "gib", "gib": 2401}, "fail", NO_SIZE.format(2401, "2400 or 4800")),
    ],
    lustre_throughput: [
        *((f"{each}", {"argument": "throughput", "throughput": each}, "pass", "") for each in (125, 250, 500, 1000)),
        ("of-persistent-1", {"argument": "throughput", "throughput": 200}, "fail", NO_TIER.format(200)),
        ("above", {"argument": "throughput", "throughput": 1001}, "fail", NO_TIER.format(1001)),
    ],
    lustre_efa_size: [
        ("at-125", tier(125, 38400), "pass", ""),
        ("at-250", tier(250, 38400), "pass", ""),
        ("at-500", tier(500, 9600), "pass", ""),
        ("at-1000", tier(1000, 4800), "pass", ""),
        ("no-tier", tier(200, 1200), "pass", ""),
        ("small-at-1000", tier(1000, 2400), "fail", NO_EFA_SIZE.format(2400, 4800, 1000, 4800)),
        ("between-at-500", tier(500, 14400), "fail", NO_EFA_SIZE.format(14400, 9600, 500, 19200)),
        ("small-at-250", tier(250, 9600), "fail", NO_EFA_SIZE.format(9600, 19200, 250, 19200)),
        ("small-at-125", tier(125, 36000), "fail", NO_EFA_SIZE.format(36000, 38400, 125, 38400)),
    ],
    lustre_efa_metadata: [
        ("both", {"deployment_type": "PERSISTENT_2", "metadata": True}, "pass", ""),
        (
            "no-metadata",
            {"deployment_type": "PERSISTENT_2", "metadata": False},
            "fail",
            "trainers: efa_enabled=true: needs a metadata configuration; add metadata_configuration with mode "
            "AUTOMATIC [aws-lustre-efa-metadata]",
        ),
        (
            "scratch",
            {"deployment_type": "SCRATCH_2", "metadata": True},
            "fail",
            "trainers: efa_enabled=true: is not supported by SCRATCH_2; use PERSISTENT_2 [aws-lustre-efa-metadata]",
        ),
    ],
    lustre_bucket_path: [
        ("scratch", {"argument": "import_path", "path": "s3://a", "deployment_type": "SCRATCH_2"}, "pass", ""),
        (
            "persistent-2",
            {"argument": "import_path", "path": "s3://a", "deployment_type": "PERSISTENT_2"},
            "fail",
            "trainers: import_path=s3://a: is not supported by PERSISTENT_2; leave it out, and add a data repository "
            "association [aws-lustre-bucket-path]",
        ),
    ],
    lustre_port: [
        ("open", {"opened": True, "clients": ("nodes",)}, "pass", ""),
        (
            "closed-to-nodes",
            {"opened": False, "clients": ("nodes",)},
            "fail",
            "trainers: security_group_ids=[nodes]: TCP 988 is not open from nodes; add ingress rules of TCP 988 and "
            "1018 to 1023 [aws-lustre-port]",
        ),
        (
            "closed-to-itself",
            {"opened": False, "clients": ()},
            "fail",
            "trainers: security_group_ids=[]: TCP 988 is not open from itself; add ingress rules of TCP 988 and "
            "1018 to 1023 [aws-lustre-port]",
        ),
        (
            "not-known",
            {"opened": None, "clients": ("nodes",)},
            "unverified",
            "trainers: security_group_ids=[nodes]: not verified: whether TCP 988 is open from nodes is not known from "
            "the program; add ingress rules of TCP 988 and 1018 to 1023 [aws-lustre-port]",
        ),
    ],
    lustre_clients: [
        ("some", {"groups": ("nodes",)}, "pass", ""),
        (
            "none",
            {"groups": ()},
            "fail",
            "trainers: client_security_group_ids={}: lets nobody mount: TCP 988 would be open from the file system "
            "itself only; give the security group of the nodes [aws-lustre-clients]",
        ),
    ],
    lustre_zone: [
        ("same", {"zone": "use1-az1", "node_zones": ("use1-az1",)}, "pass", ""),
        ("no-nodes", {"zone": "use1-az1", "node_zones": ()}, "pass", ""),
        (
            "another",
            {"zone": "use1-az1", "node_zones": ("use1-az1", "use1-az2")},
            "fail",
            "trainers: zone=use1-az1: is not that of the nodes in use1-az2, which read over TCP and pay for each byte; "
            "put the pools and the file system into one zone [aws-lustre-zone]",
        ),
    ],
    lustre_efa_used: [
        ("one-pool", {"efa": True, "networks": ("plain", "efa")}, "pass", ""),
        ("without", {"efa": False, "networks": ("plain",)}, "pass", ""),
        ("no-pool-yet", {"efa": True, "networks": ()}, "pass", ""),
        (
            "unused",
            {"efa": True, "networks": ("plain", "plain")},
            "fail",
            "trainers: efa=true: is used by no node: no pool has network=efa, and other nodes read over TCP; leave efa "
            "out, which allows smaller file systems, or give a pool network=efa [aws-lustre-efa-used]",
        ),
    ],
    lustre_alone: [
        ("alone", {"others": ()}, "pass", ""),
        (
            "beside-efs",
            {"others": ("files", "own_servers")},
            "fail",
            "trainers: keys=[files, own_servers]: would be second places of the shared files, beside lustre; leave out "
            "either these or lustre [aws-lustre-alone]",
        ),
    ],
    lustre_bucket: [
        ("bucket", {"directory": "/imagenet", "bucket": "s3://images"}, "pass", ""),
        ("prefix", {"directory": "/", "bucket": "s3://images/train/"}, "pass", ""),
        (
            "relative",
            {"directory": "imagenet", "bucket": "s3://images"},
            "fail",
            "trainers: buckets=imagenet: is not an absolute path; write a directory such as /imagenet "
            "[aws-lustre-buckets]",
        ),
        (
            "ends-in-a-slash",
            {"directory": "/imagenet/", "bucket": "s3://images"},
            "fail",
            "trainers: buckets=/imagenet/: is not an absolute path; write a directory such as /imagenet "
            "[aws-lustre-buckets]",
        ),
        (
            "no-path-of-s3",
            {"directory": "/imagenet", "bucket": "images"},
            "fail",
            "trainers: buckets./imagenet=images: is not a path of S3; write s3://bucket or s3://bucket/prefix "
            "[aws-lustre-buckets]",
        ),
        (
            "no-bucket",
            {"directory": "/imagenet", "bucket": "s3:///train"},
            "fail",
            "trainers: buckets./imagenet=s3:///train: is not a path of S3; write s3://bucket or s3://bucket/prefix "
            "[aws-lustre-buckets]",
        ),
    ],
    lustre_buckets_apart: [
        ("one", {"directories": ("/imagenet",)}, "pass", ""),
        ("beside", {"directories": ("/imagenet", "/imagenet-21k")}, "pass", ""),
        (
            "inside",
            {"directories": ("/data/train", "/data")},
            "fail",
            "trainers: buckets=/data/train: lies in /data, which is linked too; link directories beside it "
            "[aws-lustre-bucket-overlap]",
        ),
        (
            "all",
            {"directories": ("/", "/data")},
            "fail",
            "trainers: buckets=/data: lies in /, which is linked too; link directories beside it "
            "[aws-lustre-bucket-overlap]",
        ),
    ],
}


def test_case(case):
    case.check()
