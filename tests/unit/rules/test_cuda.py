"""Cases of gpufleet.rules.cuda."""

from gpufleet.catalog import aws
from gpufleet.catalog.cuda_compatibility import cuda_releases, gpu_cuda, node_images
from gpufleet.rules.cuda import driver_runs, gpu_known, gpu_not_dropped, validate_cuda

CASES = {
    driver_runs: [
        (
            "nobody-said",
            {
                "cuda": "",
                "image": "al2023",
                "driver": 580,
                "least_driver": None,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "pass",
            "",
        ),
        (
            "newer-driver",
            {
                "cuda": "12.8",
                "image": "al2023",
                "driver": 580,
                "least_driver": 525,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "pass",
            "",
        ),
        (
            "just-new-enough",
            {
                "cuda": "13.0",
                "image": "al2023",
                "driver": 580,
                "least_driver": 580,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "pass",
            "",
        ),
        (
            "just-too-old",
            {
                "cuda": "13.0",
                "image": "al2023",
                "driver": 579,
                "least_driver": 580,
                "older": (
                    "11",
                    "12",
                ),
            },
            "fail",
            (
                "trainers: cuda=13.0: needs NVIDIA's driver 580 or newer, and image=al2023 has 579; build the "
                "jobs' image with CUDA 11 or 12, or use a node image with a newer driver (image=ami-...) "
                "[any-image-cuda]"
            ),
        ),
        (
            "nothing-older",
            {"cuda": "11.8", "image": "al2023", "driver": 440, "least_driver": 450, "older": ()},
            "fail",
            (
                "trainers: cuda=11.8: needs NVIDIA's driver 450 or newer, and image=al2023 has 440; use a node "
                "image with a newer driver (image=ami-...) [any-image-cuda]"
            ),
        ),
        (
            "own-image",
            {
                "cuda": "12.8",
                "image": "ami-0123456789abcdef0",
                "driver": None,
                "least_driver": 525,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "unverified",
            (
                "trainers: cuda=12.8: not verified: it needs NVIDIA's driver 525 or newer, and what "
                "ami-0123456789abcdef0 has is not known; look at a node with nvidia-smi [any-image-cuda]"
            ),
        ),
        (
            "unknown-cuda",
            {
                "cuda": "14.0",
                "image": "al2023",
                "driver": 580,
                "least_driver": None,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "unverified",
            (
                "trainers: cuda=14.0: not verified: the catalog does not know which driver this version needs; "
                "look it up in NVIDIA's release notes of CUDA [any-image-cuda]"
            ),
        ),
        (
            "no-version",
            {
                "cuda": "cu128",
                "image": "al2023",
                "driver": 580,
                "least_driver": None,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "fail",
            (
                'trainers: cuda=cu128: is not a CUDA version; write major.minor in quotes, such as "12.8" '
                "[any-image-cuda]"
            ),
        ),
        (
            "major-only",
            {
                "cuda": "12",
                "image": "al2023",
                "driver": 580,
                "least_driver": 525,
                "older": (
                    "11",
                    "12",
                    "13",
                ),
            },
            "fail",
            ('trainers: cuda=12: is not a CUDA version; write major.minor in quotes, such as "12.8" [any-image-cuda]'),
        ),
    ],
    gpu_not_dropped: [
        (
            "last",
            {"cuda": "12.9", "type_name": "p3dn.24xlarge", "gpu": "V100", "known": True, "last": "12.9"},
            "pass",
            "",
        ),
        (
            "next",
            {"cuda": "13.0", "type_name": "p3dn.24xlarge", "gpu": "V100", "known": True, "last": "12.9"},
            "fail",
            (
                "trainers: cuda=13.0: makes no code for the V100 of p3dn.24xlarge any more; build the jobs' "
                "image with CUDA 12.9 or older, or use a newer GPU [any-image-cuda-dropped]"
            ),
        ),
        (
            "no-end",
            {"cuda": "13.4", "type_name": "p3dn.24xlarge", "gpu": "H100", "known": True, "last": None},
            "pass",
            "",
        ),
        (
            "nobody-said",
            {"cuda": "", "type_name": "p3dn.24xlarge", "gpu": "V100", "known": False, "last": "12.9"},
            "pass",
            "",
        ),
        (
            "unknown-gpu",
            {"cuda": "12.8", "type_name": "p3dn.24xlarge", "gpu": "X1", "known": False, "last": None},
            "unverified",
            (
                "trainers: cuda=12.8: not verified: the catalog does not know which versions make code for the "
                "X1 of p3dn.24xlarge; look it up in NVIDIA's release notes of CUDA [any-image-cuda-dropped]"
            ),
        ),
    ],
    gpu_known: [
        ("first", {"cuda": "12.8", "type_name": "p6-b200.48xlarge", "gpu": "B200", "first": "12.8"}, "pass", ""),
        (
            "just-older",
            {"cuda": "12.7", "type_name": "p6-b200.48xlarge", "gpu": "B200", "first": "12.8"},
            "fail",
            (
                "trainers: cuda=12.7: is older than the B200 of p6-b200.48xlarge, which its libraries do not "
                "know; build the jobs' image with CUDA 12.8 or newer [any-image-cuda-new-gpu]"
            ),
        ),
        (
            "compared-by-number",
            {"cuda": "12.10", "type_name": "p6-b200.48xlarge", "gpu": "B200", "first": "12.8"},
            "pass",
            "",
        ),
        ("nobody-said", {"cuda": "", "type_name": "p6-b200.48xlarge", "gpu": "B200", "first": None}, "pass", ""),
        (
            "unknown-gpu",
            {"cuda": "12.8", "type_name": "p6-b200.48xlarge", "gpu": "X1", "first": None},
            "unverified",
            (
                "trainers: cuda=12.8: not verified: the catalog does not know the first version for the X1 of "
                "p6-b200.48xlarge; look it up in NVIDIA's release notes of CUDA [any-image-cuda-new-gpu]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


def not_passed(types, **pool):
    findings = validate_cuda(pool, [aws().types[name] for name in types])
    return {finding.rule: finding.status for finding in findings if finding.status != "pass"}


def test_pools_as_they_are_today():
    assert not_passed(["g5.8xlarge"]) == {}
    assert not_passed(["g5.8xlarge", "p5.48xlarge"], cuda="13.0") == {}
    assert not_passed(["p5.48xlarge"], cuda="12.4", image="bottlerocket") == {}
    assert not_passed(["p6-b200.48xlarge"], cuda="12.4") == {"any-image-cuda-new-gpu": "fail"}
    assert not_passed(["p3dn.24xlarge"], cuda="13.0") == {"any-image-cuda-dropped": "fail"}
    assert not_passed(["g5.8xlarge"], cuda="12.8", image="ami-0123456789abcdef0") == {"any-image-cuda": "unverified"}
    assert not_passed(["g5.8xlarge"], cuda="99.0") == {"any-image-cuda": "unverified"}
    assert not_passed(["g5.8xlarge"], cuda=12.8) == {}, "the wrong kind is another rule's business"


def test_an_image_that_is_older_than_the_gpu_is_refused():
    (finding,) = [each for each in validate_cuda({"cuda": "9.2"}, [aws().types["g5.8xlarge"]]) if each.rejects]
    assert finding.line("trainers") == (
        "trainers: cuda=9.2: is older than the A10G of g5.8xlarge, which its libraries do not know; build the jobs' "
        "image with CUDA 11.0 or newer [any-image-cuda-new-gpu]"
    )
    assert [each for each in validate_cuda({"cuda": "11.0"}, [aws().types["g5.8xlarge"]]) if each.rejects] == []


def test_every_current_gpu_of_aws_is_known():
    current = {record.gpu_model for record in aws().types.values() if record.retired is None}
    assert current - gpu_cuda().keys() == set()


def test_the_files_fit_together():
    assert set(node_images("aws")) == {"al2023", "bottlerocket"}
    drivers = [record.least_driver for record in cuda_releases().values()]
    assert drivers == sorted(drivers)
    for record in gpu_cuda().values():
        ends = [end for end in (record.first_cuda, record.last_cuda) if end]
        assert ends == sorted(ends, key=lambda end: tuple(map(int, end.split("."))))
