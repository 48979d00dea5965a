# The home of a user of whom the image knows nothing: made by the first of their jobs, and theirs alone.
make_home() {
    [ "$GPUFLEET_USER" ] && [ ! -d "$HOME" ] || return 0
    said=$( (umask 077 && mkdir "$HOME") 2>&1) && return
    # Another pod of the job may have been faster.
    [ ! -d "$HOME" ] || return 0
    echo "gpufleet: $HOME, the home of $GPUFLEET_USER, cannot be made: ${said##*: }; its folder has to be there," \
        "writable for all (mode 1777)" >&2
    exit 1
}

# ssh accepts no host but one with the job's own key, whose public half is in file $1.
pin_host_key() {
    echo "gpufleet $(cat "$1")" >/dev/shm/known_hosts
}
