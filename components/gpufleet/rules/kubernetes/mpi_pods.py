"""Rules on the pods of a job: what they reserve, mount and may do."""

import re
from collections.abc import Mapping, Sequence
from itertools import permutations

from gpufleet.catalog import GpuType
from gpufleet.rules import coerce
from gpufleet.rules.aws.pool_arguments import TAINT_EFFECTS
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

_HUGEPAGES_GIB = 5
_MOUNT = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")
_TAKEN = ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root/.ssh", "/sbin", "/sys", "/usr")
_SECRET = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/[\w.-]+)?", re.ASCII)
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTERFACE = re.compile(r"[A-Za-z0-9_.-]{1,15}")


@rule("any-mpi-reservation", Severity.ERROR)
def reservation(*, argument: str, wanted: int, type_name: str, of_node: int | None) -> Outcome:
    """A worker reserves fewer vCPUs and less memory than a node has; the system keeps some. `argument` is cpus,
    memory_gib or shared_memory_gib.

    `of_node`: the instance type's, None where no type is given or the catalog lacks it.
    Source: https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/: allocatable is below
    capacity; a pod that asks for all of it stays Pending for ever.
    """
    if wanted < 1:
        return failed(argument, wanted, "is below 1", "use 1 or more")
    if of_node is None:
        if not type_name:
            return passed()
        return unverified(argument, wanted, f"{type_name} is not in the catalog", "make sure that its nodes have more")
    if wanted < of_node:
        return passed()
    problem = f"leaves nothing of the {of_node} of {type_name} to the system"
    return failed(argument, wanted, problem, f"use {of_node - 1} or less")


@rule("aws-mpi-hugepages", Severity.ERROR)
def hugepages_left(*, memory_gib: int, type_name: str, of_node: int) -> Outcome:
    """Memory that a worker with EFA reserves leaves the 5 GiB of huge pages that EFA takes besides.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html: hugepages-2Mi: 5120Mi; huge pages are not
    part of a node's allocatable memory.
    """
    if memory_gib < of_node - _HUGEPAGES_GIB:
        return passed()
    problem = f"leaves none of the {of_node} GiB of {type_name} for EFA's {_HUGEPAGES_GIB} GiB of huge pages"
    return failed("memory_gib", memory_gib, problem, f"use {of_node - _HUGEPAGES_GIB - 1} or less")


@rule("any-mpi-mount-path", Severity.ERROR)
def mount_path_free(*, argument: str, path: str) -> Outcome:
    """A volume is mounted on an absolute path that hides nothing that the image needs. `argument` is mount_path or
    read_claims.

    Source: https://kubernetes.io/docs/concepts/storage/volumes/: a mount hides what the image has there; MPI needs
    the image's programs, /dev/shm, and the keys that are mounted below /etc.
    """
    if not _MOUNT.fullmatch(path):
        return failed(argument, path, "must be an absolute path", "use a path such as /mnt")
    for taken in _TAKEN:
        if path == taken or path.startswith(f"{taken}/"):
            return failed(argument, path, f"hides what a container has in {taken}", "use a path such as /mnt")
    return passed()


@rule("any-mpi-mounts-apart", Severity.ERROR)
def mounts_apart(*, paths: Sequence[str]) -> Outcome:
    """No volume is mounted inside of another.

    Source: 2i2c-org/infrastructure#2953: the inner directory is made in the outer volume, as root's, and stays there;
    kubernetes/website#31530.
    """
    for outer, inner in permutations(sorted(paths), 2):
        if inner.startswith(f"{outer}/") or inner == outer:
            return failed("read_claims", inner, f"lies in {outer}, where another volume is", "use a path beside it")
    return passed()


@rule("any-mpi-env", Severity.ERROR)
def variable_name(*, name: str) -> Outcome:
    """An environment variable has a valid shell name, so that it reaches every rank.

    Source: man mpirun (-x): names are separated by commas and semicolons, and = begins the value.
    """
    if _ENV.fullmatch(name):
        return passed()
    return failed("env", name, "is not a valid variable name", "use letters, digits and _, starting with a letter or _")


@rule("any-mpi-secret", Severity.ERROR)
def secret_reference(*, variable: str, reference: str, in_env: bool) -> Outcome:
    """A secret variable names a Secret of the namespace and maybe a key of it, and is not a variable of `env`.

    Source: https://kubernetes.io/docs/concepts/configuration/secret/: names are DNS subdomains; keys have letters,
    digits, -, _ and dots.
    """
    argument = f"secrets.{variable}"
    if not _ENV.fullmatch(variable):
        fix = "use letters, digits and _, starting with a letter or _"
        return failed("secrets", variable, "is not a valid variable name", fix)
    if in_env:
        return failed("secrets", variable, "env has this variable too", "leave it out of one of them")
    if not _SECRET.fullmatch(reference):
        return failed(argument, "[secret]", "must name a Secret, not hold its value", "write SECRET or SECRET/KEY")
    return passed()


@rule("any-mpi-interface", Severity.ERROR)
def interface_name(*, interface: str) -> Outcome:
    """The network interface of the pods is named exactly, once.

    Source: IFNAMSIZ of Linux (15 characters); OpenMPI's btl_tcp_if_include and NCCL_SOCKET_IFNAME do not write
    patterns the same way.
    """
    if _INTERFACE.fullmatch(interface):
        return passed()
    return failed("network_interface", interface, "is not a network interface name", "use one name, such as eth0")


@rule("any-mpi-user", Severity.WARNING)
def not_root(*, uid: int) -> Outcome:
    """A job's processes run as a user other than root.

    Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/ (restricted: runAsNonRoot); what root
    writes to a shared volume belongs to nobody else.
    """
    if uid >= 1:
        return passed()
    problem = "is root, which a team's namespace rejects (Pod Security restricted)"
    return failed("uid", uid, problem, "use 1000 or another user of the image")


def validate_pods(args: Mapping[str, object], record: GpuType | None) -> list[Finding]:
    """Every finding on a job's pods; ``record`` is the catalog's of the instance type.

    Reads instance_type, network, cpus, memory_gib, shared_memory_gib, mount_path, read_claims, network_interface, env,
    secrets, uid, tolerations (key, value, effect).
    """
    type_name = coerce.text(args, "instance_type")
    # What follows from a number of GPUs that is wrong is not told as well.
    gpus = max(1, min(coerce.whole(args, "gpus_per_worker", 1), record.gpus if record else 1))
    memory = coerce.whole(args, "memory_gib", 4 * gpus)
    read = coerce.mapping(args, "read_claims")
    mounts = [("mount_path", coerce.text(args, "mount_path", "/mnt")), *(("read_claims", str(path)) for path in read)]
    findings = [
        reservation(
            argument=argument, wanted=wanted, type_name=type_name, of_node=getattr(record, fact) if record else None
        )
        for argument, wanted, fact in (
            ("cpus", coerce.whole(args, "cpus", gpus), "vcpus"),
            ("memory_gib", memory, "memory_gib"),
            ("shared_memory_gib", coerce.whole(args, "shared_memory_gib", 8), "memory_gib"),
        )
    ]
    if record and args.get("network") == "efa":
        findings.append(hugepages_left(memory_gib=memory, type_name=type_name, of_node=record.memory_gib))
    findings += [
        *(mount_path_free(argument=argument, path=path) for argument, path in mounts),
        mounts_apart(paths=[path for _, path in mounts]),
        *(name_form(argument="read_claims", name=str(claim)) for claim in read.values()),
        interface_name(interface=coerce.text(args, "network_interface", "eth0")),
        not_root(uid=coerce.whole(args, "uid", 1000)),
        *(variable_name(name=name) for name in coerce.mapping(args, "env")),
        *(
            secret_reference(variable=str(name), reference=str(each), in_env=name in coerce.mapping(args, "env"))
            for name, each in coerce.mapping(args, "secrets").items()
        ),
    ]
    taints = args.get("tolerations")
    for taint in taints if isinstance(taints, list | tuple) else ():
        if isinstance(taint, Mapping):
            findings += [
                key_form(argument="tolerations.key", key=coerce.text(taint, "key")),
                value_form(argument="tolerations.value", value=coerce.text(taint, "value")),
                allowed_choice(argument="tolerations.effect", word=coerce.text(taint, "effect"), legal=TAINT_EFFECTS),
            ]
    return findings
