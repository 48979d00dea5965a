"""What runs inside of the hub, as its configuration: each notebook under its user's own uid, at home on the volume.

The hub's image holds no gpufleet, so that this file goes there as text (`hub.extraConfig` of the chart), and imports
nothing but what the standard library has.
"""

from collections.abc import Callable, Mapping
from typing import Any

START = """
case "$HOME" in
"$GPUFLEET_SHARED"/*)
    if [ ! -d "$HOME" ] && ! said=$( (umask 077 && mkdir "$HOME") 2>&1); then
        echo "gpufleet: $HOME, the home of $USER, cannot be made: ${said##*: }; its folder has to be there," \\
            "writable for all (mode 1777)" >&2
        exit 1
    fi
    ;;
esac
cd "$HOME" && exec "$@"
"""
"""First process of a notebook: makes the home when it is not there, as the user, and theirs alone."""


class NotOfTheTeam(Exception):
    """JupyterHub shows `jupyterhub_message` to the user."""

    def __init__(self, name: str) -> None:
        self.jupyterhub_message = (
            f"{name} has no uid here, so that no notebook starts; ask for an entry in gpufleet:team.users"
        )
        super().__init__(self.jupyterhub_message)


def start_as(users: Mapping[str, Mapping[str, Any]], mount_path: str) -> Callable[[Any], None]:
    """The hook that runs before a notebook starts: its uid, gid, /etc/passwd and home.

    users: uid, gid, groups and the text of an /etc/passwd by name; without any all notebooks run as uid 1000, whom
    the image has to know. A user who is not among them gets no notebook.
    """

    def hook(spawner: Any) -> None:  # noqa: ANN401 - KubeSpawner is not installed where this is checked
        name = spawner.user.name
        # The chart's default, 100, is a group of other people's on a shared volume.
        spawner.fs_gid = None
        home = f"{mount_path}/home/{name}"
        spawner.environment = {
            **spawner.environment,
            "HOME": home,
            "USER": name,
            "LOGNAME": name,
            "GPUFLEET_USER": name,
            "GPUFLEET_SHARED": mount_path,
        }
        if not users:
            spawner.uid, spawner.gid = 1000, 1000
            return
        if name not in users:
            raise NotOfTheTeam(name)
        user = users[name]
        spawner.uid, spawner.gid = int(user["uid"]), int(user["gid"])
        spawner.supplemental_gids = [int(each) for each in user.get("groups", ())]
        spawner.extra_annotations = {**spawner.extra_annotations, "gpufleet.dev/passwd": user["passwd"]}
        reference = {"apiVersion": "v1", "fieldPath": "metadata.annotations['gpufleet.dev/passwd']"}
        passwd = {"name": "passwd", "downwardAPI": {"items": [{"path": "passwd", "fieldRef": reference}]}}
        mount = {"name": "passwd", "mountPath": "/etc/passwd", "subPath": "passwd", "readOnly": True}
        spawner.volumes = [*_values(spawner.volumes), passwd]
        spawner.volume_mounts = [*_values(spawner.volume_mounts), mount]

    return hook


def _values(several: Any) -> list[Any]:  # noqa: ANN401
    """KubeSpawner takes lists, and mappings whose keys are of no meaning."""
    return list(several.values()) if isinstance(several, Mapping) else list(several)
