#!/bin/sh
# Runs as the first process of new mount, uts, ipc and pid namespaces: makes the pod's own file tree and becomes its
# command. The tree is this machine's, read-only below a scratch layer, so that nothing in it changes.
#   enter_pod.sh HOSTNAME SCRATCH FILES UID GID DIRECTORY COMMAND...
#   FILES/mounts: lines "source target", bound into the tree; FILES/etc: copied over its /etc.
#   FILES/groups: further gids of the user, with commas. FILES/server: is there for a server, which is no container.
set -eu
hostname=$1 scratch=$2 files=$3 uid=$4 gid=$5 directory=$6
shift 6
hostname "$hostname"
mount --make-rprivate /
mount -t tmpfs -o size=256m scratch "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/tree"
mount -t overlay -o "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" overlay "$scratch/tree"
cd "$scratch/tree"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777,size=64m shared-memory dev/shm
mount -t tmpfs -o mode=1777,size=256m temporary tmp
cp "$files/etc/"* etc/
while read -r source target; do
    mkdir -p "./$target"
    mount --bind "$source" "./$target"
done <"$files/mounts"
# When the tests are killed, so is the pod (pdeathsig): a change of user forgets what unshare has set.
if [ "$uid" = 0 ]; then
    # Root keeps the capabilities that container runtimes give: sshd changes users. It gains none beyond.
    exec chroot . setpriv --no-new-privs --pdeathsig KILL env --chdir="$directory" "$@"
fi
groups=$(cat "$files/groups")
if [ "$groups" ]; then groups="--groups=$groups"; else groups=--clear-groups; fi
if [ -e "$files/server" ]; then
    # As udev leaves it on a server: every user may mount by FUSE.
    if [ -e dev/fuse ]; then
        mknod -m 666 "$scratch/fuse" c 10 229
        mount --bind "$scratch/fuse" dev/fuse
    fi
    # The kernel refuses user namespaces below a chroot (user_namespaces(7)).
    pivot_root . mnt
    cd /
    umount -l /mnt
    exec setpriv --reuid "$uid" --regid "$gid" "$groups" --pdeathsig KILL env --chdir="$directory" "$@"
fi
# No capabilities, as with `capabilities: {drop: [ALL]}` and `allowPrivilegeEscalation: false`.
exec chroot . setpriv --reuid "$uid" --regid "$gid" "$groups" --inh-caps=-all --bounding-set=-all \
    --no-new-privs --pdeathsig KILL env --chdir="$directory" "$@"
