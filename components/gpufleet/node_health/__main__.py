"""`python3 -m node_health`: look after GPU nodes until SIGTERM."""

import argparse
import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from threading import Event

from .cluster import ClusterError, PodCluster
from .watch import NodeWatch, say

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where the kubelet puts the account's token and certificate; the variable GPUFLEET_ACCOUNT names another place."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between looks")
    parser.add_argument("--most-percent", type=int, default=20, help="the most of a pool that is cordoned")
    parser.add_argument("--lasting", type=float, default=300.0, help="seconds for which devices must be missing")
    parser.add_argument("--young", type=float, default=900.0, help="age in seconds at which a node has its devices")
    parser.add_argument("--keep-pods", action="store_true", help="do not evict pods with GPUs from bad nodes")
    parser.add_argument("--expected", type=Path, required=True, help="JSON: GPUs of a node by types and pools")
    words = parser.parse_args()
    ended = Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: ended.set())
    expected = json.loads(words.expected.read_text(encoding="utf-8"))
    lasting, young = timedelta(seconds=words.lasting), timedelta(seconds=words.young)
    watch = NodeWatch(
        PodCluster(Path(os.environ.get("GPUFLEET_ACCOUNT", ACCOUNT))),
        expected,
        words.most_percent,
        lasting,
        young,
        not words.keep_pods,
    )
    say(f"looking every {words.every:g} s, cordoning at most {words.most_percent} % of a pool")
    while not ended.is_set():
        try:
            watch.look()
        except (ClusterError, KeyError, TypeError, AttributeError, ValueError) as error:
            # The next look may go well: a server that restarts, or an object that nobody should have written.
            say(f"{type(error).__name__}: {error}")
        ended.wait(words.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
