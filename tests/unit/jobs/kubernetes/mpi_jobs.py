"""Two MPI jobs, and the parts of their manifests."""

from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs

SMALL: MpiJobArgs = {
    "namespace": "vision",
    "workers": 2,
    "gpus_per_worker": 1,
    "image": "registry.example.com/train:1",
    "command": ["python3", "train.py"],
}
LARGE: MpiJobArgs = {
    **SMALL,
    "workers": 512,
    "gpus_per_worker": 8,
    "pool": "trainers",
    "instance_type": "p5.48xlarge",
    "zone": "use1-az1",
    "network": "efa",
    "volume_claim": "shared",
    "mount_path": "/data",
    "read_claims": {"/images": "images"},
    "shared_memory_gib": 64,
    "cpus": 180,
    "memory_gib": 1800,
    "queue": "vision",
    "topology": "gpufleet.dev/zone-id",
    "retries": 3,
    "time_limit_seconds": 3600,
    "ttl_seconds": 600,
    "uid": 1001,
    "gid": 1002,
    "image_pull_secret": "ngc",
    "service_account": "trainer",
    "env": {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "=net1"},
    "labels": {"owner": "ml"},
    "tolerations": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}],
}


def role(manifest: dict, name: str) -> dict:
    return manifest["spec"]["mpiReplicaSpecs"][name]


def pod(manifest: dict, name: str) -> dict:
    return role(manifest, name)["template"]["spec"]


def container(manifest: dict, name: str) -> dict:
    (only,) = pod(manifest, name)["containers"]
    return only
