"""What ranks write on a node that Azure Batch does not show: it goes to the main node, and into the node's own file."""

import json
import subprocess
import sys

NODE = r"""
import json, socket, subprocess, sys
from gpufleet.jobs.node_runtime import azure_output
from gpufleet.jobs.node_runtime.connection import NodeConnection

here, there = socket.socketpair()
link = object.__new__(NodeConnection)
link.sock = here
azure_output.forward_output(link)
subprocess.run(["sh", "-c", sys.argv[1]], check=True)
azure_output.finish_output()
here.close()
print("sent " + json.dumps(there.makefile("rb").read().decode().split("\n")[:-1]))
"""


def test_output_goes_both_ways() -> None:
    says = "echo one; echo >&2; printf '%01500d' 7; sleep 0.2; echo; printf '10%%\\r20%%\\rend'"
    words = [sys.executable, "-c", NODE, says]
    done = subprocess.run(words, capture_output=True, timeout=600, check=True)
    bar = "10%\r20%\rend"
    file, _, sent = done.stdout.decode().partition("sent ")
    long = f"{7:01500d}"
    assert file == f"one\n\n{long}\n{bar}"
    assert json.loads(sent) == ["log one", "log ", f"log {long[:1000]}", f"log {long[1000:]}", f"log {bar}"]
