"""Run a command in a pod, with bytes in and bytes out, over the API's websocket."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import websocket  # type: ignore[import-not-found, import-untyped, unused-ignore]
from kubernetes.stream.ws_client import create_websocket  # type: ignore[import-untyped]

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesUnreachable
from gpufleet.rules.messages import one_line

_STDIN, _STDOUT, _STDERR, _ENDED = range(4)
"""Channels of the protocol v4.channel.k8s.io: the first byte of every frame."""
IDLE_SECONDS = 300.0
"""Longest silence. A checksum of 100 GB on a slow file system takes minutes."""


class CommandError(UserError):
    """The command ended with another code than 0; the text has its last words."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def exec_in_pod(
    api: KubernetesApi, namespace: str, pod: str, command: Sequence[str], stdin: Iterable[bytes] = ()
) -> Iterator[bytes]:
    """What the command writes to its standard output, as it comes.

    stdin: its standard input. The protocol cannot say that it has ended: the command has to know how much comes.
    Errors: KubernetesUnreachable when the connection breaks, CommandError.
    """
    place = _open(api, namespace, pod, command)
    said = b""
    try:
        for piece in stdin:
            place.send(bytes([_STDIN]) + piece, opcode=websocket.ABNF.OPCODE_BINARY)
        while True:
            _, frame = place.recv_data()
            channel, content = (frame[0], frame[1:]) if frame else (None, b"")
            if channel == _STDOUT and content:
                yield content
            elif channel == _STDERR:
                said = (said + content)[-2000:]
            elif channel == _ENDED:
                _raise_on_failure(content, said)
                return
    except (websocket.WebSocketException, OSError) as error:
        raise KubernetesUnreachable(
            f"{api.where}: the connection to pod {pod} broke: {one_line(str(error))}"
        ) from error
    finally:
        place.close()


def _open(api: KubernetesApi, namespace: str, pod: str, command: Sequence[str]) -> Any:  # noqa: ANN401 - untyped
    query = [("stdin", "true"), ("stdout", "true"), ("stderr", "true"), *(("command", word) for word in command)]
    path = api_paths.core(namespace, "pods", f"{pod}/exec")
    url = f"ws{api.server.removeprefix('http')}{path}?{urlencode(query)}"
    try:
        try:
            place = _connected(api, url)
        except websocket.WebSocketBadStatusException as error:
            if error.status_code != 401:
                raise
            # Maybe only expired: the client takes new credentials when a question is refused.
            api.find(api_paths.core(namespace, "pods", pod))
            place = _connected(api, url)
    except websocket.WebSocketBadStatusException as error:
        if error.status_code < 500:
            fix = (
                "ask the environment's owner for the right to pods/exec" if error.status_code == 403 else "is it gone?"
            )
            raise KubernetesApiError(
                f"{api.where}: pod {pod} takes no commands ({error.status_code}); {fix}", error.status_code
            ) from error
        raise KubernetesUnreachable(f"{api.where}: pod {pod} takes no commands now ({error.status_code})") from error
    except (websocket.WebSocketException, OSError) as error:
        raise KubernetesUnreachable(f"{api.where}: pod {pod} cannot be reached: {one_line(str(error))}") from error
    place.settimeout(IDLE_SECONDS)
    return place


def _connected(api: KubernetesApi, url: str) -> Any:  # noqa: ANN401
    headers = {"authorization": api.configuration.get_api_key_with_prefix("authorization") or ""}
    return create_websocket(api.configuration, url, headers)


def _raise_on_failure(content: bytes, said: bytes) -> None:
    status = parse_json(content, "the command's end", shape=dict[str, Any])
    if status.get("status") == "Success":
        return
    causes = (status.get("details") or {}).get("causes") or []
    codes = [each.get("message") for each in causes if each.get("reason") == "ExitCode"]
    code = int(codes[0]) if codes and str(codes[0]).isdigit() else 1
    words = one_line(" ".join(said.decode(errors="replace").split())) or str(status.get("message") or "")
    raise CommandError(f"in the pod: {words}", code)
