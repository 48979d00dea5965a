# The first process of a worker: runs sshd for mpirun, and tells the ranks before the pod is taken.
#   sh -c TEXT worker KEY GRACE SSHD...
# KEY: the file of the public half of the job's key, for workers that start others: OpenMPI's tree from 65 hosts on.
# SIGTERM, the kubelet's: no new ranks start; those that can listen are told, and have the grace to save.
# SIGUSR1, the launcher's: ranks are told, and the worker stays.

# Whether a rank that was told, or mpirun's daemon, is still here: with the daemon mpirun would end the other workers'.
busy() {
    for pid in $told; do
        kill -s 0 "$pid" 2>/dev/null && return 0
    done
    grep -qxE 'orted|prted' /proc/[0-9]*/comm 2>/dev/null
}

leave() {
    trap '' TERM INT
    kill -s TERM "$sshd" 2>/dev/null
    tell
    end=$(($(date +%s) + grace - 2))
    while [ "$told" ] && busy; do
        if [ "$(date +%s)" -ge "$end" ]; then
            echo "gpufleet: the $grace s of grace are over and ranks still run; give the job more grace_seconds" >&2
            break
        fi
        sleep 1
    done
    exit 143
}

key=$1 grace=$2
shift 2
make_home
pin_host_key "$key"
# Root's sshd locks itself into this directory.
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
trap leave TERM INT
trap tell USR1
# A session starts with a bare environment: OpenMPI outside of /usr/bin would not be found.
"$@" -o "SetEnv=PATH=$PATH LD_LIBRARY_PATH=$LD_LIBRARY_PATH" &
sshd=$!
code=0
while kill -s 0 "$sshd" 2>/dev/null; do
    wait "$sshd"
    code=$?
done
# A signal interrupts wait. If sshd ended meanwhile, its code is still to be had; else wait knows it no more: 127.
wait "$sshd" 2>/dev/null
late=$?
[ "$late" = 127 ] || code=$late
exit "$code"
