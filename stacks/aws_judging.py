"""Judge an AWS environment with an EKS cluster by its settings, before its first resource."""

import aws_link
import notebook_parts
import on_cluster
import own_servers
import queueing
import teams
from aws_account_judging import judge_pools_together, judge_surroundings
from aws_parts import autoscaler_of, cluster_of, control_zones, refused_zones, volume_files
from aws_settings import AwsSettings
from gpufleet.aws.addons import ADDRESSES_PER_NODE, addons
from gpufleet.aws.system_nodes import SystemNodes
from gpufleet.pool_hours import ScheduledPool
from gpufleet.refusal import refuse_stack
from gpufleet.rules import judge_budget, judge_cluster, judge_pool
from gpufleet.rules.aws.cluster import judge_control_zones
from gpufleet.rules.aws.cluster_access import judge_cluster_access, judge_installation
from gpufleet.rules.aws.service_range import judge_services
from gpufleet.rules.aws.system_nodes import judge_system_nodes
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.autoscaler import judge_autoscaler
from gpufleet.rules.pool_hours import judge_schedule
from parts import named
from settings import given


def refuse(environment: str, settings: AwsSettings) -> None:
    """Judge every part by its plain values, so that one preview shows all faults and nothing is half made."""
    own = settings.existing_cluster is None
    judged = judge_surroundings(environment, settings)
    pools = {pool: given(intent) for pool, intent in settings.pools.items()}
    judged |= {
        pool: [*judge_pool(intent, settings.region, ScheduledPool), *judge_schedule(intent)]
        for pool, intent in pools.items()
    }
    # Ids are only known once there is a file system.
    on_it = on_cluster.arguments(environment, settings, volume_files(settings, True, True), settings.files.one_zone)
    judged |= on_cluster.judge(settings, on_it, own=own)
    if "autoscaler" in on_cluster.software(settings, own=own):
        judged["autoscaler"] = judge_autoscaler(autoscaler_of(settings))
    whole = judge_pools_together(environment, settings, settings.pools, ADDRESSES_PER_NODE if own else None)
    told = own_servers.told(environment, settings)
    whole += queueing.judge(environment, settings, told)
    point = "access_point" in volume_files(settings, True, True)
    whole += teams.judge(environment, settings, told, access_point=point)
    whole += notebook_parts.judge(environment, settings, told)
    judged |= {f"budget-{team}": judge_budget(args) for team, args in teams.budgets(environment, settings).items()}
    of_servers, together = own_servers.judge(environment, settings)
    judged |= of_servers | aws_link.judge(settings)
    whole += together
    if own:
        cluster = cluster_of(settings)
        whole += [Judged(f"{environment}-cluster", each) for each in judge_installation(cluster)]
        zones = cluster | {"region": settings.region, "zones": control_zones(settings)}
        judged["cluster"] = [
            *judge_cluster(zones, "zones", refused_zones(settings)),
            *judge_control_zones(settings.cluster.zones or (), settings.network.zones),
            *judge_cluster_access(cluster, addons(cluster.get("efs_driver", True))),
            *judge_services(cluster | {"vpc_cidr": own_servers.vpc_cidr(settings)}),
            *own_servers.judge_cluster(settings),
            *judge_system_nodes(cluster, (SystemNodes.types, SystemNodes.min, SystemNodes.max, SystemNodes.disk_gib)),
        ]
    refuse_stack(named(environment, judged), whole)
