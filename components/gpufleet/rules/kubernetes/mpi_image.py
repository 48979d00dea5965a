"""Rules on the image of a job."""

import re
from collections.abc import Mapping

from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_HOST = r"([A-Za-z0-9.-]+(:\d+)?/)?"
_PATH = r"[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
_REFERENCE = re.compile(rf"{_HOST}{_PATH}(:(?P<tag>\w[\w.-]{{0,127}}))?(@(?P<digest>sha256:[0-9a-f]{{64}}))?", re.ASCII)


@rule("any-mpi-image", Severity.ERROR)
def image_form(*, image: str) -> Outcome:
    """A job's image is a valid image name: host, path, and a tag or a digest.

    Source: https://github.com/distribution/reference (reference.go); a pod with another stays InvalidImageName.
    """
    if _REFERENCE.fullmatch(image):
        return passed()
    fix = "use host/path:tag in lower-case letters, or host/path@sha256: and 64 hexadecimal digits"
    return failed("image", image, "is not a valid image name", fix)


@rule("any-mpi-image-pinned", Severity.WARNING)
def image_pinned(*, image: str) -> Outcome:
    """A job's image is named by a digest or by a tag other than latest, so that all of its workers run the same.

    Source: https://kubernetes.io/docs/concepts/containers/images/#image-pull-policy: without a tag latest is meant,
    and latest is pulled again by each node that starts, also in the middle of a push.
    """
    found = _REFERENCE.fullmatch(image)
    if not found or found["digest"] or found["tag"] not in (None, "latest"):
        return passed()
    problem = "may be another image on each node and on each attempt"
    return failed("image", image, problem, "give the tag of one build, or its digest")


def validate_image(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a job's image. Reads image."""
    image = args.get("image")
    return [image_form(image=image), image_pinned(image=image)] if isinstance(image, str) else []
