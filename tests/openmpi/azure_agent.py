"""Stands in for Azure Batch's agent on one node: runs the two command lines, without a shell, as tasks are.

    azure_agent.py COORDINATION APPLICATION GO UID

UID is who containers run as; the agent itself is root, and keeps the task's output in the task's directory. It runs
the coordination command line and says with which code that returned. On the master node it then waits for the file GO,
which the tests make when all nodes have said so, and ends with the application command's code; any other stays.
"""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

coordination, application, go, uid = sys.argv[1:]
user = {"user": int(uid), "group": int(uid), "extra_groups": []}
code = subprocess.run(shlex.split(coordination), stdin=subprocess.DEVNULL, check=False, **user).returncode
print(f"coordinated {code}", flush=True)
if code:
    sys.exit(code)
while os.environ["AZ_BATCH_IS_CURRENT_NODE_MASTER"] != "true":
    time.sleep(1)
while not Path(go).exists():
    time.sleep(0.05)
# The agent keeps a task's output in two files; the pod's log has both streams as they come.
with Path(os.environ["AZ_BATCH_TASK_DIR"], "stdout.txt").open("wb", buffering=0) as log:
    task = subprocess.Popen(
        shlex.split(application), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **user
    )
    while content := os.read(task.stdout.fileno(), 65536):
        log.write(content)
        os.write(1, content)
sys.exit(task.wait())
