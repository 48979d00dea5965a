# The first process of a torchrun job's worker: runs torchrun, and tells the ranks before the pod is taken.
#   sh -c TEXT torchrun_worker GRACE TORCHRUN...
# SIGTERM, the kubelet's: ranks that can listen are told, and have the grace to save. Where none listens, torchrun ends
# them.
# SIGUSR1, by hand: ranks are told, and the worker stays.

leave() {
    trap '' TERM INT
    tell
    [ "$told" ] || kill -s TERM "$torchrun" 2>/dev/null
    end=$(($(date +%s) + grace - 2))
    while kill -s 0 "$torchrun" 2>/dev/null; do
        if [ "$(date +%s)" -ge "$end" ]; then
            echo "gpufleet: the $grace s of grace are over and ranks still run; give the job more grace_seconds" >&2
            break
        fi
        sleep 1
    done
    exit 143
}

grace=$1
shift
make_home
trap leave TERM INT
trap tell USR1
"$@" &
torchrun=$!
code=0
while kill -s 0 "$torchrun" 2>/dev/null; do
    wait "$torchrun"
    code=$?
done
# A signal interrupts wait. If torchrun ended meanwhile, its code is still to be had; else wait knows it no more: 127.
wait "$torchrun" 2>/dev/null
late=$?
[ "$late" = 127 ] || code=$late
exit "$code"
