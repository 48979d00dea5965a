# The first process of a launcher: waits for the workers, runs mpirun, and tells the ranks before the pod is taken.
#   sh -c TEXT launcher KEY PATIENCE GRACE 'SSH ARGUMENTS' MPIRUN...
# KEY: the file of the public half of the job's key, which is its workers' host key too.
# SIGTERM, the kubelet's, and SIGUSR1: the workers tell their ranks; mpirun's exit code is the pod's. mpirun itself ends
# ranks a second after SIGTERM, and passes SIGUSR1 on to whatever a rank has started, which ends what does not catch it.

# Runs command $1 on the hosts that follow, 32 at once; prints a line for each where it fails: host and reason.
on_each() {
    task=$1 at=0
    shift
    for host; do
        {
            # shellcheck disable=SC2086
            said=$(ssh -n -o BatchMode=yes -o ConnectionAttempts=1 -o ConnectTimeout=5 -o ServerAliveInterval=5 \
                $ssh "$host" "$task" 2>&1) || {
                # The last line says why; ssh ends it with a carriage return.
                said=$(echo "$said" | tail -n 1 | tr -d '\r')
                echo "$host ${said:-an earlier try of the job still ends there}"
            }
        } &
        at=$((at + 1))
        [ $((at % 32)) != 0 ] || wait
    done
    wait
}

# The Job controller starts a retry at once, whether or not workers of the try before are there again.
wait_for_workers() {
    end=$(($(date +%s) + patience)) asked=$hosts before=''
    while :; do
        # shellcheck disable=SC2086
        missing=$(on_each "! grep -qxE 'orted|prted' /proc/[0-9]*/comm 2>/dev/null" $asked)
        if [ -z "$missing" ]; then
            [ "$asked" != "$hosts" ] || return 0
            # One that answered before may have gone in the meantime.
            asked=$hosts
            continue
        fi
        first=${missing%%"
"*}
        asked=$(echo "$missing" | while read -r host _; do echo "$host"; done)
        count=$(echo "$asked" | grep -c .)
        case $missing in *'Permission denied'*)
            echo "gpufleet: the job's key is refused by $count workers: $first" >&2
            exit 1
            ;;
        *'Host key verification failed'*)
            echo "gpufleet: $count workers answer with another host key than the job's: $first" >&2
            exit 1
            ;;
        esac
        if [ "$(date +%s)" -ge "$end" ]; then
            echo "gpufleet: $count workers did not come within $patience s: $first; look at their pods" >&2
            exit 1
        fi
        [ "$count" = "$before" ] || echo "gpufleet: waiting for $count workers: $first" >&2
        before=$count
        sleep 2
    done
}

notice() {
    trap '' TERM INT USR1
    echo 'gpufleet: notice to all ranks' >&2
    # In a shell of its own, which does not wait for mpirun too.
    # shellcheck disable=SC2086
    (on_each 'kill -s USR1 1' $hosts) >&2
    # Ranks that do not listen end before the kubelet ends mpirun, so that none is left behind.
    {
        sleep $((grace - 4))
        kill -s TERM "$mpirun"
    } &
}

key=$1 patience=$2 grace=$3 ssh=$4
shift 4
make_home
pin_host_key "$key"
hosts=$(while read -r host _; do echo "$host"; done <"${OMPI_MCA_orte_default_hostfile:-/etc/mpi/hostfile}")
trap 'exit 143' TERM INT USR1
if ! command -v ssh >/dev/null; then
    echo 'gpufleet: the image has no ssh; install openssh-client in it' >&2
    exit 127
fi
wait_for_workers
case ${NCCL_NET:-} in
Socket) echo 'gpufleet: NCCL uses TCP between nodes (NCCL_NET=Socket)' >&2 ;;
?*) echo "gpufleet: NCCL uses $NCCL_NET between nodes, or the job fails (NCCL_NET)" >&2 ;;
esac
"$@" &
mpirun=$!
trap notice TERM INT USR1
code=0
while kill -s 0 "$mpirun" 2>/dev/null; do
    wait "$mpirun"
    code=$?
done
# A signal interrupts wait. If mpirun ended meanwhile, its code is still to be had; else wait knows it no more: 127.
wait "$mpirun" 2>/dev/null
late=$?
[ "$late" = 127 ] || code=$late
exit "$code"
