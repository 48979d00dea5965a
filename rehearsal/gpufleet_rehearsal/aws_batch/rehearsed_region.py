"""What a simulated AWS has in a region, as the services that jobs use tell it.

Jobs, instances and logs are kept in the rehearsal's file, and continue between two requests by as much time as has
passed in the rehearsal: nothing needs to run in the meantime.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

from gpufleet_rehearsal.aws_batch.container_instances import PlayedContainerInstances
from gpufleet_rehearsal.aws_batch.images import PlayedImages
from gpufleet_rehearsal.aws_batch.instances import Instances
from gpufleet_rehearsal.aws_batch.logs import PlayedLogs
from gpufleet_rehearsal.aws_batch.objects import PlayedObjects
from gpufleet_rehearsal.aws_batch.played_batch import PlayedAwsBatch
from gpufleet_rehearsal.aws_batch.rejection import AwsRejection
from gpufleet_rehearsal.aws_batch.secrets import PlayedSecrets
from gpufleet_rehearsal.azure_storage.containers import Containers
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import timeline
from gpufleet_rehearsal.played_jobs import LOOK_SECONDS

Data = dict[str, Any]

ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
DEFINITION = "aws:batch/jobDefinition:JobDefinition"
GROUP = "aws:cloudwatch/logGroup:LogGroup"
SUBNET = "aws:ec2/subnet:Subnet"
_KEPT = ("at", "jobs", "due", "begun", "registered", "streams")
"""Fields of a `PlayedAwsBatch` that the file keeps as they are."""
_SPELT = {"minVcpus": "minvCpus", "maxVcpus": "maxvCpus", "desiredVcpus": "desiredvCpus"}
"""Properties that the provider spells otherwise than the service."""


class PlayedServices(NamedTuple):
    """By the names that a request's signature has for them."""

    batch: PlayedAwsBatch
    logs: PlayedLogs
    ecr: PlayedImages
    ecs: PlayedContainerInstances
    s3: PlayedObjects
    secretsmanager: PlayedSecrets


@dataclass
class RehearsedRegions:
    """The regions of one account."""

    cloud: Cloud
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def open(self, region: str) -> Iterator[PlayedServices]:
        """A region's services as they are now, for one request; what is changed in them is kept.

        Errors: StoreError.
        """
        store = self.cloud.store
        with self._lock, store.transaction():
            clock, key = timeline(store, self.cloud.settings), f"aws-batch:{region}"
            kept = json.loads(store.fact(key) or "{}")
            objects = PlayedObjects(Containers(store))
            batch = self._read(kept, region, objects)
            account = f"arn:aws:secretsmanager:{region}:{self.cloud.settings.account}:secret"
            secrets = PlayedSecrets(account, json.loads(store.fact(f"aws-secrets:{region}") or "{}"))
            batch.readable = {str(each["ARN"]) for each in secrets.secrets.values()}
            batch.at = batch.at or clock.now()
            batch.advance(clock.now() if clock.counts else batch.at + LOOK_SECONDS)
            groups = {str(each["name"]) for each in self._views(GROUP, region)}
            clusters = [str(each["ecsClusterArn"]) for each in batch.environments.values() if "ecsClusterArn" in each]
            instances = PlayedContainerInstances(clusters, batch.container_instances())
            logs, images = PlayedLogs(groups, batch.streams), PlayedImages(store, region)
            yield PlayedServices(batch, logs, images, instances, objects, secrets)
            store.remember(f"aws-secrets:{region}", json.dumps(secrets.secrets))
            told = {field: getattr(batch, field) for field in _KEPT}
            store.remember(key, json.dumps(told | {"instances": [batch.instances.running, batch.instances.started]}))

    def _read(self, kept: Mapping[str, Any], region: str, objects: PlayedObjects) -> PlayedAwsBatch:
        view = self.cloud.view
        running, started = kept.get("instances", [{}, 0])

        def put(bucket: str, key: str, content: bytes) -> None:
            # A bucket that is gone gets nothing.
            with suppress(AwsRejection):
                objects.put(bucket, key, content)

        return PlayedAwsBatch(
            f"arn:aws:batch:{region}:{self.cloud.settings.account}",
            queues={str(each["arn"]): _queue(each) for each in self._views(QUEUE, region)},
            environments={str(each["arn"]): _environment(each) for each in self._views(ENVIRONMENT, region)},
            declared=[_definition(each) for each in self._views(DEFINITION, region)],
            **{field: kept[field] for field in _KEPT if field in kept},
            instances=Instances(running, started, view.family, view.quota, self._has_capacity),
            put=put,
        )

    def _views(self, type_: str, region: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = [each.view for each in self.cloud.store.resources(type_)]
        return [each for each in found if each.get("region") == region]

    def _has_capacity(self, type_: str, subnets: list[str]) -> bool:
        view = self.cloud.view
        held = [each for name in subnets if (each := self.cloud.store.get(SUBNET, name))]
        zones = {str(each.view.get("availabilityZoneId") or each.view.get("availabilityZone")) for each in held}
        if not zones or not all(view.no_capacity(type_, view.zone(zone)) for zone in zones):
            view.faults.forget_met()
            return True
        view.faults.met_capacity()
        return False


def _queue(view: Mapping[str, Any]) -> Data:
    told = {"jobQueueName": view["name"], "jobQueueArn": view["arn"], "status": "VALID"}
    told |= {"computeEnvironmentOrder": list(view.get("computeEnvironmentOrders") or [])}
    return told | _given(view, "state", "priority", "schedulingPolicyArn", "jobStateTimeLimitActions")


def _environment(view: Mapping[str, Any]) -> Data:
    told = {"computeEnvironmentName": view["name"], "computeEnvironmentArn": view["arn"]}
    resources = view.get("computeResources")
    if resources:
        told["computeResources"] = {_SPELT.get(key, key): value for key, value in resources.items()}
    return told | _given(view, "type", "state", "status", "statusReason", "ecsClusterArn", "serviceRole")


def _definition(view: Mapping[str, Any]) -> Data:
    told: Data = {"jobDefinitionName": view["name"], "jobDefinitionArn": view["arn"], "status": "ACTIVE"}
    told |= {"revision": int(view["revision"]), "tags": dict(view.get("tagsAll") or view.get("tags") or {})}
    told |= {key: json.loads(view[key]) for key in ("containerProperties", "nodeProperties") if view.get(key)}
    if strategy := view.get("retryStrategy"):
        rules = strategy.get("evaluateOnExits")
        told["retryStrategy"] = _given(strategy, "attempts") | ({"evaluateOnExit": rules} if rules else {})
    kept = ("type", "parameters", "timeout", "propagateTags", "platformCapabilities", "schedulingPriority")
    return told | _given(view, *kept)


def _given(view: Mapping[str, Any], *keys: str) -> Data:
    return {key: view[key] for key in keys if view.get(key) is not None}
