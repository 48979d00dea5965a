"""The program of every environment: runs the one that `gpufleet:cloud` names, each of which is whole by itself."""

from pathlib import Path

from gpufleet.config.program import run_program

run_program(Path(__file__).parent)
