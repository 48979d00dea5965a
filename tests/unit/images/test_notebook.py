"""A notebook becomes an image and a command: what is read of it, what is built, and what each rank runs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.images.mirror.apptainer import notebook_recipe
from gpufleet.images.notebook import Notebook, read_notebook

BASE = "r.invalid/training@sha256:" + "a" * 64
EXAMPLE = Path(__file__).parents[3] / "examples" / "notebook"


def cell(*tags: str) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": "epochs = 1"}


def notebook(folder: Path, **metadata: object) -> Path:
    file = folder / "my train.ipynb"
    file.write_text(json.dumps({"cells": [cell(), cell("parameters")], "metadata": metadata, "nbformat": 4}))
    return file


def test_dependencies_are_those_of_the_file_beside_it(tmp_path: Path) -> None:
    file = notebook(tmp_path)
    found = read_notebook(file)
    assert (found.dependencies, found.modules, found.parameters) == (None, (), True)
    assert found.advice({"epochs": "2"}) == [
        "my train.ipynb: neither environment.yml nor requirements.txt is beside it; it has the packages of the base "
        "image only"
    ]
    (tmp_path / "requirements.txt").write_text("numpy==2.3.5\n")
    (tmp_path / "layers.py").write_text("")
    found = read_notebook(file)
    assert found.dependencies == tmp_path / "requirements.txt"
    assert found.modules == (tmp_path / "layers.py",)
    assert found.advice({"epochs": "2"}) == []
    (tmp_path / "environment.yml").write_text("dependencies: [numpy]\n")
    assert read_notebook(file).dependencies == tmp_path / "environment.yml", "as Binder does"


def test_parameters_without_their_cell_are_told(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": [cell()], "metadata": {}}))
    (tmp_path / "requirements.txt").write_text("")
    assert read_notebook(file).advice({}) == []
    assert read_notebook(file).advice({"epochs": "2"}) == [
        "a.ipynb: no cell has the tag `parameters`, so that its own values come after the given ones"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "No such file or directory; give a notebook, such as train.ipynb"),
        ("print(1)", "line 1: is not JSON: invalid character; give a notebook, such as train.ipynb"),
        ("[]", "must be an object, not a list; give a notebook, such as train.ipynb"),
        ('{"worksheets": []}', "is not a notebook of format 4: it has no cells; save it with a current Jupyter"),
        (
            '{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}',
            "is written in r; only notebooks in Python become jobs",
        ),
    ],
)
def test_what_is_no_notebook_of_python(tmp_path: Path, text: str | None, told: str) -> None:
    file = tmp_path / "a.ipynb"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError) as error:
        read_notebook(file)
    assert str(error.value) == f"{file}: {told}"


PIP = "RUN PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir"


def instructions(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_image_of_pip(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy==2.3.5\n")
    assert instructions(read_notebook(notebook(tmp_path)).dockerfile(BASE)) == [
        f"FROM {BASE}",
        "USER 0",
        "COPY . /notebook/",
        f"{PIP} -r /notebook/requirements.txt papermill==2.7.0 ipykernel",
        "USER 1000",
    ]


def test_image_of_conda_needs_it_in_the_base(tmp_path: Path) -> None:
    (tmp_path / "environment.yml").write_text("dependencies: [numpy]\n")
    *_, conda, pip, _user = instructions(read_notebook(notebook(tmp_path)).dockerfile(BASE))
    assert conda.endswith('"$conda" env update --name base --file /notebook/environment.yml')
    assert pip == f"{PIP} papermill==2.7.0 ipykernel"
    (tmp_path / "bin").mkdir()
    run = ["/bin/sh", "-c", conda.removeprefix("RUN ")]
    done = subprocess.run(run, env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "gpufleet: environment.yml needs mamba or conda in the base image; write requirements.txt for pip\n",
    )
    (tmp_path / "bin" / "conda").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "bin" / "conda").chmod(0o755)
    done = subprocess.run(run, env={"PATH": f"{tmp_path / 'bin'}:/bin"}, capture_output=True, text=True, check=False)
    assert done.stdout == "env update --name base --file /notebook/environment.yml\n"


def test_digest_is_of_all_that_is_in_the_image(tmp_path: Path) -> None:
    file = notebook(tmp_path)

    def digest(base: str = BASE) -> str:
        return read_notebook(file).digest(base)

    digests = [digest(), digest("other")]
    (tmp_path / "layers.py").write_text("")
    digests.append(digest())
    (tmp_path / "layers.py").write_text("x = 1")
    digests.append(digest())
    file.write_text(file.read_text() + " ")
    digests.append(digest())
    assert digest() == digests[-1]
    assert len({*digests}) == len(digests)
    assert {len(each) for each in digests} == {16}


def test_recipe_of_a_sif_has_the_same_in_it(tmp_path: Path) -> None:
    text = Notebook(tmp_path / "a.ipynb", tmp_path / "requirements.txt", (), True).dockerfile("base")
    made = notebook_recipe(text, "docker://nvcr.io/nvidia/pytorch:24.10-py3")
    lines = [line.strip() for line in made["notebook.def"].decode().splitlines() if line.strip()]
    assert lines == [
        "Bootstrap: docker",
        "From: nvcr.io/nvidia/pytorch:24.10-py3",
        "%files",
        "notebook.sh /usr/local/share/gpufleet/wrap.sh",
        "notebook /",
        "%post",
        "/bin/sh -e /usr/local/share/gpufleet/wrap.sh",
        "%test",
        "python3 -m papermill --version",
    ]
    script = made["notebook.sh"].decode()
    assert "python3 -m pip install --no-cache-dir -r /notebook/requirements.txt papermill==2.7.0 ipykernel" in script
    subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=True)
    header = notebook_recipe(text, "/nfs/images/train.sif")["notebook.def"].decode().splitlines()[:2]
    assert header == ["Bootstrap: localimage", "From: /nfs/images/train.sif"]


PYTHON = """#!/bin/sh
# Plays the image's python3: says how it was called, and from where.
for word; do echo "$word"; done
echo "in $PWD, modules $PYTHONPATH, home $HOME"
exit "${FAILS:-0}"
"""


def run(folder: Path, *, home: str | None = None, **variables: str) -> "subprocess.CompletedProcess[str]":
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "python3").write_text(PYTHON)
    (folder / "bin" / "python3").chmod(0o755)
    command = Notebook(Path("my train.ipynb"), None, (), True).command("train-1", {"epochs": "9 0", "lr": "$x"})
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": home or str(folder), **variables}
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_first_rank_runs_it_with_its_parameters(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    done = run(tmp_path, GPUFLEET_OUTPUTS=str(outputs), OMPI_COMM_WORLD_RANK="0", PYTHONPATH="/own")
    made = f"{outputs}/my train.ipynb"
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            f"gpufleet: {made}",
            *("-m", "papermill", "/notebook/my train.ipynb", made, "--cwd", str(outputs), "--log-output"),
            *("--kernel", "python3", "-p", "epochs", "9 0", "-p", "lr", "$x"),
            f"in {outputs}, modules /notebook:/own, home {tmp_path}",
        ],
    )
    assert run(tmp_path, GPUFLEET_OUTPUTS=str(outputs), FAILS="3").returncode == 3


def test_other_ranks_run_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, GPUFLEET_OUTPUTS=str(tmp_path / "outputs"), OMPI_COMM_WORLD_RANK="1")
    assert (done.returncode, done.stdout) == (0, "")
    assert not (tmp_path / "outputs").exists()


def test_uid_without_a_home_gets_one(tmp_path: Path) -> None:
    done = run(tmp_path, home="/no/such", GPUFLEET_OUTPUTS=str(tmp_path / "outputs"), TMPDIR=str(tmp_path))
    assert f"home {tmp_path}/tmp." in done.stdout


def test_example_is_whole() -> None:
    found = read_notebook(EXAMPLE / "fit.ipynb")
    assert found.advice({"epochs": "90"}) == []
    assert found.dependencies == EXAMPLE / "requirements.txt"
    assert found.modules == (EXAMPLE / "points.py",)
