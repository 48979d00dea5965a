# What tells the ranks in a worker that it will be taken.
#
# A rank is known by OpenMPI's variable, or the one that stands in its place here for torchrun's ranks
# (pod_entrypoints.py). mpirun's daemon and torchrun have none: at SIGTERM they would end their ranks, at once or after
# 30 s. Told is who catches SIGUSR1, else SIGTERM, and of those the outermost only: a signal that is not caught ends a
# process, such as the shell around a program or a data loader's workers, and then all ranks end before they have saved.

# Sets parent and signal of process $1: USR1, TERM, or nothing.
look() {
    parent='' signal='' caught=0
    {
        while read -r key value _; do
            case $key in
            PPid:) parent=$value ;;
            # Signals 1 to 32: a shell's numbers may be too short for all 64.
            SigCgt:) caught=$((0x${value#????????})) ;;
            esac
        done <"/proc/$1/status"
    } 2>/dev/null
    if [ $((caught >> 9 & 1)) = 1 ]; then
        signal=USR1
    elif [ $((caught >> 14 & 1)) = 1 ]; then
        signal=TERM
    fi
}

tell() {
    listening=' ' told=''
    for folder in /proc/[0-9]*; do
        pid=${folder#/proc/}
        look "$pid"
        if [ "$signal" ] && grep -q OMPI_COMM_WORLD_RANK= "$folder/environ" 2>/dev/null; then
            listening="$listening$pid "
        fi
    done
    for pid in $listening; do
        look "$pid"
        kind=$signal
        while [ "${parent:-0}" -gt 1 ]; do
            case $listening in *" $parent "*) continue 2 ;; esac
            look "$parent"
        done
        kill -s "$kind" "$pid" 2>/dev/null && told="$told $pid"
    done
    echo "gpufleet: notice to$told" >&2
}
