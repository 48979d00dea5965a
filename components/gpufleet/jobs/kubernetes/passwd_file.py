"""An /etc/passwd entry for a user that the pod's image does not have, without root."""

from dataclasses import dataclass, field
from typing import Any

from gpufleet.users.user import User, passwd_text

_PASSWD = "gpufleet.dev/passwd"
"""Annotation with the file: the kubelet writes it out of the pod itself; no other object has to live as long."""
_VOLUME = "passwd"


@dataclass(frozen=True)
class PodUser:
    """The parts of a pod that define its user."""

    annotations: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    mounts: list[dict[str, Any]] = field(default_factory=list)
    volumes: list[dict[str, Any]] = field(default_factory=list)


def pod_user(user: User, volume: str | None) -> PodUser:
    """An /etc/passwd with the user over the image's, and its home. volume: where the shared files are mounted.

    A downwardAPI volume is among those that Pod Security restricted lets in, and its file is readable for all. The
    first processes (home.sh) make the home when it is not there, as the user; without a volume it is
    /tmp. Sources: kubernetes.io/docs/concepts/workloads/pods/downward-api (metadata.annotations), .../storage/volumes
    (subPath), .../security/pod-security-standards.
    """
    home = f"{volume}/home/{user.name}" if volume else "/tmp"
    field_path = f"metadata.annotations['{_PASSWD}']"
    items = [{"path": "passwd", "fieldRef": {"apiVersion": "v1", "fieldPath": field_path}}]
    return PodUser(
        annotations={_PASSWD: passwd_text(user, home)},
        environment={"GPUFLEET_USER": user.name, "HOME": home, "LOGNAME": user.name, "USER": user.name},
        mounts=[{"name": _VOLUME, "mountPath": "/etc/passwd", "subPath": "passwd", "readOnly": True}],
        volumes=[{"name": _VOLUME, "downwardAPI": {"items": items}}],
    )
