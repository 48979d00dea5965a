"""A container's words are those of its pod, but where they name what is mounted."""

from pathlib import Path

from tools.kubernetes.pod_files import placed


def test_mounted_paths_are_found_here_and_other_words_stay() -> None:
    places = {"/opt/program": Path("/tmp/a"), "/var/run/account": Path("/tmp/b")}
    words = ["/opt/program", "/opt/program/x.json", "/opt/programs", "--every", "/var/run/account/token"]
    assert placed(words, places) == ["/tmp/a", "/tmp/a/x.json", "/opt/programs", "--every", "/tmp/b/token"]
