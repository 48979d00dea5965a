"""Cases of gpufleet.rules.kubernetes.operator."""

from gpufleet.rules.kubernetes.operator import checksum_given, manifest_place, runs_mpi_jobs, trainer_runs

CASES = {
    checksum_given: [
        ("known", {"version": "v0.7.0", "sha256": None, "known": ("v0.7.0",)}, "pass", ""),
        (
            "given",
            {
                "version": "v0.8.0",
                "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "known": ("v0.7.0",),
            },
            "pass",
            "",
        ),
        (
            "unknown",
            {"version": "v0.8.0", "sha256": None, "known": ("v0.7.0",)},
            "fail",
            (
                "trainers: version=v0.8.0: has a manifest whose checksum is not known; give sha256, or use "
                "v0.7.0 [any-operator-checksum-known]"
            ),
        ),
        (
            "short",
            {"version": "v0.8.0", "sha256": "abc", "known": ("v0.7.0",)},
            "fail",
            (
                "trainers: sha256=abc: is not a SHA-256 checksum; give 64 hexadecimal digits, as sha256sum writes them "
                "[any-operator-checksum-known]"
            ),
        ),
        (
            "capitals",
            {
                "version": "v0.7.0",
                "sha256": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "known": ("v0.7.0",),
            },
            "fail",
            (
                "trainers: sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA: is not "
                "a SHA-256 checksum; give 64 hexadecimal digits, as sha256sum writes them [any-operator-checksum-known]"
            ),
        ),
    ],
    manifest_place: [
        ("https", {"manifest": "https://example.com/mpi-operator.yaml"}, "pass", ""),
        ("file", {"manifest": "vendor/mpi-operator.yaml"}, "pass", ""),
        (
            "http",
            {"manifest": "http://example.com/mpi-operator.yaml"},
            "fail",
            (
                "trainers: manifest=http://example.com/mpi-operator.yaml: must be a file or an https address; use a"
                " path or https://... [any-operator-manifest]"
            ),
        ),
        (
            "empty",
            {"manifest": ""},
            "fail",
            (
                "trainers: manifest='': must be a file or an https address; use a path or https://... [any-"
                "operator-manifest]"
            ),
        ),
    ],
    trainer_runs: [
        ("openmpi", {"implementations": ("OpenMPI",), "given": ()}, "pass", ""),
        ("default", {"implementations": (), "given": ()}, "pass", ""),
        (
            "intel",
            {"implementations": ("OpenMPI", "Intel"), "given": ()},
            "fail",
            (
                "trainers: flavour=trainer: has no runtime for Intel; use flavour=mpi-operator, or "
                "implementations=[OpenMPI] [any-operator-trainer]"
            ),
        ),
        (
            "both",
            {"implementations": ("MPICH", "Intel"), "given": ()},
            "fail",
            (
                "trainers: flavour=trainer: has no runtime for MPICH and Intel; use flavour=mpi-operator, or "
                "implementations=[OpenMPI] [any-operator-trainer]"
            ),
        ),
        (
            "manifest",
            {"implementations": (), "given": ("manifest", "sha256")},
            "fail",
            (
                "trainers: flavour=trainer: comes as a chart, not as a manifest; leave manifest and sha256 out, "
                "or use flavour=mpi-operator [any-operator-trainer]"
            ),
        ),
    ],
    runs_mpi_jobs: [
        ("operator", {"flavour": "mpi-operator"}, "pass", ""),
        (
            "trainer",
            {"flavour": "trainer"},
            "fail",
            (
                "trainers: flavour=trainer: runs TrainJobs, and `gpufleet jobs` submits MPIJobs; use "
                "flavour=mpi-operator, or submit TrainJobs yourself [any-operator-jobs]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
