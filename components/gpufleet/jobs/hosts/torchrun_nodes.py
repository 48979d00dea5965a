"""Bash lines of a job's script that run torchrun on each of its hosts.

The job's machine gives every host a script by ssh's standard input, so that no variable is seen in a list of processes,
and keeps that input open: when it ends, because a node has failed, the job is cancelled or its script was killed, each
host ends its torchrun, which gives its ranks 30 s. Source of these: torch/distributed/elastic/multiprocessing/api.py
(PContext.close).
"""

import shlex
from collections.abc import Sequence

from gpufleet.jobs.torchrun import torchrun_command

RUN_NODES = "run_nodes"
"""The function that runs a try of the job; its code is that of the first node that failed."""

# bash reads all of the braces before it begins, so that what follows on standard input is never taken for a command.
_NODE = """{
%(start)s
exec 3<&0
%(words)s </dev/null 3<&- &
run=$!
{ read -r -u 3; kill -TERM "$run"; } 2>/dev/null &
ended=$!
wait "$run"
code=$?
kill "$ended" 2>/dev/null
exit "$code"
}
"""

_RUN = """on_host() {
    case $1 in
    "$(hostname)"|"$(hostname -s)"|localhost) exec bash -s ;;
    *) exec ssh "${ssh[@]}" -- "$1" exec bash -s ;;
    esac
}
node_script() {
    echo '{'
    declare -p "${passed_on[@]}" 2>/dev/null
    echo "node=$1"
    echo "$on_node"
    echo '}'
}
run_nodes() {
    local number pipe alive ended code=0 status
    pipe=$(mktemp -u) && mkfifo -m 600 "$pipe" && exec {alive}<>"$pipe" {ended}<"$pipe" && rm "$pipe" || return
    for number in "${!hosts[@]}"; do
        (
            exec {alive}>&-
            on_host "${hosts[number]}" < <(node_script "$number"; while read -r -u "$ended"; do :; done)
        ) &
    done
    for number in "${!hosts[@]}"; do
        wait -n && continue
        status=$?
        [ "$code" = 0 ] || continue
        code=$status
        exec {alive}>&-
    done
    [ "$code" != 0 ] || exec {alive}>&-
    exec {ended}<&-
    return "$code"
}"""


def torchrun_lines(
    setup: Sequence[str], start: str, names: Sequence[str], words: Sequence[str], limit: Sequence[str]
) -> list[str]:
    """The lines that define `run_nodes`. setup: lines before, on every host. names: variables that ranks get. words:
    what a host runs, as its bash reads it. limit: what stands before them."""
    begin = "\n".join([*setup, f"cd {start} || exit 1"])
    node = _NODE % {"start": begin, "words": " ".join([*limit, *words])}
    return [f"passed_on=({' '.join(names)})", f"on_node={shlex.quote(node)}", _RUN]


def node_words(command: Sequence[str], nodes: int, slots: int) -> list[str]:
    """torchrun's words. command: quoted. bash of each host fills in its number and where the first is."""
    place = {"node_rank": '"$node"', "address": '"$MASTER_ADDR"', "port": '"$MASTER_PORT"'}
    return torchrun_command(command, nodes=nodes, ranks=slots, **place)
