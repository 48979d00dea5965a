"""What is put on top of an image: a Dockerfile made of the list's words, built by buildah or podman.

The pieces are files in `data/`. They are written for Debian and Ubuntu, which NGC's images are made of; certificates
also for Red Hat's.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from gpufleet.catalog.jupyterhub_chart import jupyterhub_chart
from gpufleet.errors import UserError
from gpufleet.images.builder import run
from gpufleet.images.mirror.image_list import Proxy, Wrap
from gpufleet.images.mirror.oci_layout import OciLayout, graft_layers
from gpufleet.images.mirror.skopeo import Say, run_command

_NAMESPACE = "gpufleet-mirror"
"""Below localhost, of images that the builder holds while it works."""
_NAMES = {"http": "http_proxy", "https": "https_proxy"}


def is_derived(wrap: Wrap) -> bool:
    """Whether there is anything to build."""
    return wrap != Wrap()


def dockerfile(wrap: Wrap, base: str, user: str) -> str:
    """The Dockerfile. base: as the builder knows it. user: whom the base's programs run as, '' for root."""
    parts = [f"FROM {base}", "USER 0"]
    if wrap.proxy:
        parts += [f"ENV {name}={json.dumps(value)}" for name, value in proxy_variables(wrap.proxy)]
    if wrap.certificates:
        parts.append(_piece("certificates"))
    if wrap.mpi:
        parts.append(_piece("mpi"))
    if wrap.jupyter:
        parts.append(_piece("jupyter").replace("@VERSION@", wrap.jupyter).replace("@HUB@", jupyterhub_chart().hub))
    # Lists of words are not searched for variables by the builder: the shell gets the line as it was written.
    parts += [f"RUN {json.dumps(['/bin/sh', '-ec', line])}" for line in wrap.run]
    return "\n".join([*parts, f"USER {wrap.user or user or '0'}"]) + "\n"


def proxy_variables(proxy: Proxy) -> Iterator[tuple[str, str]]:
    """Name and value, in lower-case letters and in capitals: programs differ in which they read."""
    values = [(_NAMES[key], url) for key in ("http", "https") if (url := getattr(proxy, key))]
    if proxy.none_for:
        values.append(("no_proxy", ",".join(proxy.none_for)))
    for name, value in values:
        yield name, value
        yield name.upper(), value


def certificate_files(wrap: Wrap, beside: Path) -> dict[str, bytes]:
    """Content by the name that it gets in the image. Errors: UserError for a file that is none."""
    found: dict[str, bytes] = {}
    for name in wrap.certificates:
        try:
            content = (beside / name).read_bytes()
        except OSError as error:
            raise UserError(f"certificates: {beside / name}: cannot be read: {error.strerror}") from error
        if b"-----BEGIN CERTIFICATE-----" not in content:
            raise UserError(f"certificates: {beside / name}: is not a PEM certificate; `openssl x509` converts others")
        if b"PRIVATE KEY-----" in content:
            raise UserError(f"certificates: {beside / name}: contains a private key; keep only the certificate")
        # Debian takes files that end in .crt only.
        found[f"{Path(name).stem}.crt"] = content
    if len(found) < len(wrap.certificates):
        raise UserError("certificates: two files have the same name; rename one")
    return found


def derived_image_inputs(wrap: Wrap, beside: Path) -> list[str]:
    """All that decides what is put on top, to tell whether it has changed. Errors: UserError."""
    if not is_derived(wrap):
        return []
    files = certificate_files(wrap, beside)
    return [dockerfile(wrap, "", ""), *(f"{name}:{content.hex()}" for name, content in sorted(files.items()))]


def build_derived_image(
    builder: str, wrap: Wrap, base: OciLayout, into: OciLayout, platform: str, beside: Path, say: Say
) -> None:
    """Build it, and leave the image in `into`, with the base's own layers below. Errors: UserError."""
    short = base.digest.partition(":")[2][:12]
    below, above = (f"localhost/{_NAMESPACE}/{each}-{short}" for each in ("base", "wrapped"))
    files = certificate_files(wrap, beside)
    with tempfile.TemporaryDirectory(prefix="gpufleet-", dir=base.folder.parent.parent) as name:
        folder = Path(name)
        (folder / "context" / "certificates").mkdir(parents=True)
        for file, content in files.items():
            (folder / "context" / "certificates" / file).write_bytes(content)
        user = str((base.configuration.get("config") or {}).get("User") or "")
        (folder / "Dockerfile").write_text(dockerfile(wrap, below, user), encoding="utf-8")
        try:
            _base_known(builder, base, below, folder)
            build = [builder, "build", "--layers=false", "--platform", platform, "--file", str(folder / "Dockerfile")]
            run([*build, "--tag", above, str(folder / "context")], "nothing is pushed")
            say("  packing what was built")
            (folder / "made").mkdir()
            _did([builder, "push", "--quiet", above, f"oci:{folder / 'made'}"])
            made = OciLayout(folder / "made")
            manifest = graft_layers(base, made)
            for blob in (manifest["config"], *manifest["layers"][len(base.manifest["layers"]) :]):
                shutil.move(made.blob(blob["digest"]), into.blob(blob["digest"]))
            into.put(manifest)
        except OSError as error:
            raise UserError(f"cache={folder.parent}: {error.strerror}; name another with --cache") from error
        finally:
            # Unpacked images are large, and the layouts hold what the next run needs.
            run_command([builder, "rmi", "--force", above, below], lambda line: None)


def _base_known(builder: str, base: OciLayout, name: str, folder: Path) -> None:
    """Have the builder hold the base under `name`, and not under its path on this disk, which would stand in the
    image's history.

    Builders make the name localhost/<path as given> of a layout, and refuse a path that is not legal in a name, with a
    capital letter or a leading _ for instance. So they get a relative path, which is the name.

    Source: github.com/containers/common, libimage/pull.go (oci transport); buildah 1.28.
    """
    path = name.removeprefix("localhost/")
    link = folder / path
    link.parent.mkdir()
    link.symlink_to(base.folder)
    lines = _did([builder, "pull", "--quiet", f"oci:{path}"], folder).split()
    _did([builder, "tag", lines[-1] if lines else "", name])


def _did(command: list[str], folder: Path | None = None) -> str:
    code, said = run_command(command, lambda line: None, folder)
    if code:
        words = " ".join(said.split())[-300:] or f"exit code {code}"
        raise UserError(f"images: {Path(command[0]).name} {command[1]}: {words}")
    return said


def _piece(name: str) -> str:
    folder = resources.files("gpufleet.images.mirror") / "data"
    return (folder / f"{name}.dockerfile").read_text(encoding="utf-8").rstrip("\n")
