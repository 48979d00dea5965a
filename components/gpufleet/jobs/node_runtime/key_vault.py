# Secrets of a task on Azure Batch: read from a key vault by the node's identity, whose token the node's metadata gives.
from __future__ import annotations

import json
import os
import sys
import time
import urllib.request

from gpufleet.jobs.node_runtime.process import say


# Before all else that the application command does. token: the address of the identity's. secrets: that of each
# variable's value. Ends the task where one cannot be read.
def read_secrets(token: str, secrets: dict[str, str]) -> None:
    bearer = "Bearer " + answer(token, {"Metadata": "true"}, "the node's identity", "access_token")
    for variable, url in secrets.items():
        os.environ[variable] = answer(url, {"Authorization": bearer}, f"secret {variable}: {url}", "value")


# A key of an answer. Neither service is asked by way of a proxy, and both may be busy for a moment.
def answer(url: str, headers: dict[str, str], where: str, key: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    why = OSError()
    for attempt in range(6):
        try:
            with opener.open(urllib.request.Request(url, headers=headers), timeout=10) as found:
                return str(json.load(found)[key])
        except OSError as error:
            why = error
            if getattr(error, "code", 500) < 429:
                break
        time.sleep(2**attempt)
    say(f"{where}: {why}; is it there, and has the node's identity Key Vault Secrets User?")
    sys.exit(1)
