"""Rules on the CUDA version that the jobs' image is built for: the node's driver runs it, and its GPUs know it."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.catalog import AwsGpuType
from gpufleet.catalog.cuda_compatibility import cuda_releases, gpu_cuda, node_images
from gpufleet.rules import coerce
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

_VERSION = re.compile(r"(\d{1,2})\.(\d{1,2})")


@rule("any-image-cuda", Severity.ERROR)
def driver_runs(
    *, cuda: str, image: str, driver: int | None, least_driver: int | None, older: Sequence[str]
) -> Outcome:
    """The driver in the node's image runs the CUDA version of the jobs' image; both are branches, None where not known.

    `older` are major versions that the driver runs. Empty `cuda`: nobody said.

    Source: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html; a driver too old is
    found by the job only: CUDA driver version is insufficient (bottlerocket-os/bottlerocket-kernel-kit#254,
    awslabs/amazon-eks-ami#2437).
    """
    if not cuda:
        return passed()
    if not _VERSION.fullmatch(cuda):
        return failed("cuda", cuda, "is not a CUDA version", 'write major.minor in quotes, such as "12.8"')
    if least_driver is None:
        problem = "the catalog does not know which driver this version needs"
        return unverified("cuda", cuda, problem, "look it up in NVIDIA's release notes of CUDA")
    if driver is None:
        problem = f"it needs NVIDIA's driver {least_driver} or newer, and what {image} has is not known"
        return unverified("cuda", cuda, problem, "look at a node with nvidia-smi")
    if driver >= least_driver:
        return passed()
    problem = f"needs NVIDIA's driver {least_driver} or newer, and image={image} has {driver}"
    way_out = f"build the jobs' image with CUDA {join_words(older)}, or " if older else ""
    return failed("cuda", cuda, problem, f"{way_out}use a node image with a newer driver (image=ami-...)")


@rule("any-image-cuda-dropped", Severity.ERROR)
def gpu_not_dropped(*, cuda: str, type_name: str, gpu: str, known: bool, last: str | None) -> Outcome:
    """CUDA still compiles for the node's GPUs; `last` is the last version that does, None if there is none.

    `known`: whether the catalog knows the GPU.

    Source: https://docs.nvidia.com/cuda/archive/13.0.0/cuda-toolkit-release-notes/index.html: CUDA 13 left Maxwell,
    Pascal and Volta out; no kernel image is available for execution on the device (pytorch/pytorch#157517).
    """
    if _order(cuda) and not known:
        problem = f"the catalog does not know which versions make code for the {gpu} of {type_name}"
        return unverified("cuda", cuda, problem, "look it up in NVIDIA's release notes of CUDA")
    if last is None or _order(cuda) <= _order(last):
        return passed()
    problem = f"makes no code for the {gpu} of {type_name} any more"
    return failed("cuda", cuda, problem, f"build the jobs' image with CUDA {last} or older, or use a newer GPU")


@rule("any-image-cuda-new-gpu", Severity.ERROR)
def gpu_known(*, cuda: str, type_name: str, gpu: str, first: str | None) -> Outcome:
    """The CUDA version is not older than the node's GPUs; `first` is the first that makes code for them.

    Code for 8.0, which CUDA 11.0 makes, also runs on 8.6 and 8.9; CUDA 11.1 is the first that compiles for 8.6 itself.
    A program whose kernels all come as PTX runs nonetheless: suppress the rule for it.

    Source: https://docs.nvidia.com/cuda/ampere-compatibility-guide,
    https://docs.nvidia.com/cuda/blackwell-compatibility-guide and
    https://docs.nvidia.com/cuda/hopper-compatibility-guide; libraries and wheels leave PTX out, and jobs end with "no
    kernel image is available for execution on the device" (open-edge-platform/anomalib#837 on an A10G,
    pytorch/pytorch#57922 on an A100; discuss.pytorch.org/t/120235 on 8.6).
    """
    if _order(cuda) and first is None:
        problem = f"the catalog does not know the first version for the {gpu} of {type_name}"
        return unverified("cuda", cuda, problem, "look it up in NVIDIA's release notes of CUDA")
    if first is None or not _order(cuda) or _order(cuda) >= _order(first):
        return passed()
    problem = f"is older than the {gpu} of {type_name}, which its libraries do not know"
    return failed("cuda", cuda, problem, f"build the jobs' image with CUDA {first} or newer")


def validate_cuda(pool: Mapping[str, object], records: Sequence[AwsGpuType]) -> list[Finding]:
    """Every finding on the CUDA version of a pool. Reads cuda and image; `records` are its known types."""
    models = [(record.type, record.gpu_model) for record in records]
    return validate_image_cuda(coerce.text(pool, "cuda"), coerce.text(pool, "image", "al2023"), models)


def validate_image_cuda(cuda: str, image: str, models: Sequence[tuple[str, str]]) -> list[Finding]:
    """Every finding on the CUDA version of a jobs' image on nodes.

    image: the nodes' image; one that the catalog does not have leaves their driver unverified. models: the nodes'
    types, each with its GPU model.
    """
    major = cuda.partition(".")[0]
    release, node = cuda_releases().get(major), node_images("aws").get(image)
    driver = node.driver if node else None
    older = [each.major for each in cuda_releases().values() if driver is not None and each.least_driver <= driver]
    findings: list[Finding] = [
        driver_runs(
            cuda=cuda,
            image=image,
            driver=driver,
            least_driver=release.least_driver if release else None,
            older=older,
        )
    ]
    for type_name, gpu in models:
        known = gpu_cuda().get(gpu)
        first, last = known.first_cuda if known else None, known.last_cuda if known else None
        findings += [
            gpu_not_dropped(cuda=cuda, type_name=type_name, gpu=gpu, known=known is not None, last=last),
            gpu_known(cuda=cuda, type_name=type_name, gpu=gpu, first=first),
        ]
    return findings


def _order(version: str) -> tuple[int, ...]:
    """A version for comparison; what is none comes before all."""
    match = _VERSION.fullmatch(version)
    return tuple(map(int, match.groups())) if match else ()
