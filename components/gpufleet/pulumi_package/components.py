"""Which components each package has."""

from collections.abc import Mapping

COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "aws": (
        "autoscaler_identity:AutoscalerIdentity",
        "batch_environment:BatchEnvironment",
        "batch_queue:BatchQueue",
        "budget:Budget",
        "cluster:Cluster",
        "data_sync:DataSync",
        "gpu_node_group:GpuNodeGroup",
        "hybrid_nodes:HybridNodes",
        "image_mirror:ImageMirror",
        "lustre_files:LustreFiles",
        "managed_prometheus:ManagedPrometheus",
        "mountpoint_driver:MountpointDriver",
        "network:Network",
        "outputs_bucket:OutputsBucket",
        "registry:Registry",
        "shared_files:SharedFiles",
        "site_link:SiteLink",
        "training_job:TrainingJob",
    ),
    "azure": (
        "batch_account:BatchAccount",
        "batch_pool:BatchPool",
        "budget:Budget",
        "cluster:Cluster",
        "gpu_node_group:GpuNodeGroup",
        "lustre_files:LustreFiles",
        "network:Network",
        "nfs_share:NfsShare",
        "node_identity:NodeIdentity",
        "registry:Registry",
        "resource_group:ResourceGroup",
        "shared_files:SharedFiles",
        "site_link:SiteLink",
    ),
    "kubernetes": (
        "autoscaler:Autoscaler",
        "cilium:Cilium",
        "dcgm_exporter:DcgmExporter",
        "device_plugin:DevicePlugin",
        "efa_plugin:EfaPlugin",
        "gpu_operator:GpuOperator",
        "jobset_controller:JobSetController",
        "monitoring:Monitoring",
        "mpi_job:MpiJob",
        "mpi_operator:MpiOperator",
        "node_health:NodeHealth",
        "node_labels:NodeLabels",
        "notebooks:Notebooks",
        "queue:Queue",
        "shared_volume:SharedVolume",
        "team:Team",
        "gpufleet.platform.training_platform:TrainingPlatform",
    ),
}
"""Cloud -> module:class of every component of its package: a module of the cloud's, or a full name.

The token of each is gpufleet-<cloud>:index:<class>.
"""


def full_name(cloud: str, module: str) -> str:
    """The full name of a module of COMPONENTS."""
    return module if "." in module else f"gpufleet.{cloud}.{module}"
