# What follows is the same for every server; the values are above.
# Run it as root, as often as you like: what is there already is left as it is.

set -euo pipefail
umask 077

ROOT="${GPUFLEET_ROOT:-}" # For tests: where files are, instead of /.
STATE="$ROOT/var/lib/gpufleet"
LOG="$ROOT/var/log/gpufleet-join.log"
CONFIG="$ROOT/etc/gpufleet/node-config.yaml"
NODEADM="$ROOT/usr/local/bin/nodeadm"
CHANGES=0

say() { printf 'gpufleet: %s\n' "$*"; }
die() {
  printf 'gpufleet: %s\n' "$*" >&2
  exit 1
}
changed() {
  CHANGES=$((CHANGES + 1))
  say "$*"
}

# Runs a program with its output in the log; its failure is one line: the answer that is known, or the log's last.
run() {
  local what="$1" begin
  shift
  begin=$(wc -l <"$LOG")
  "$@" >>"$LOG" 2>&1 </dev/null && return
  explain "$what" "$(tail -n "+$((begin + 1))" "$LOG")"
}

explain() {
  local what="$1" output="$2"
  case "$output" in
  *ActivationExpired* | *ctivation*expired* | *RegistrationLimitExceeded* | *egistration\ limit*)
    die "$what: the activation has ended or is used up; give a later activation_expires (or a higher count), run" \
      "\`pulumi up\`, and run the new script"
    ;;
  *InvalidActivation*) die "$what: AWS does not know this activation; run the script that is made now" ;;
  *) die "$what failed: $(printf '%s\n' "$output" | grep . | tail -n 1 | cut -c 1-300) (all of it: $LOG)" ;;
  esac
}

# Writes a file that only root reads, when it is not as wanted. Succeeds when it was written.
write() {
  local path="$1" content="$2"
  [ -f "$path" ] && [ "$(cat "$path")" = "$content" ] && return 1
  mkdir -p "$(dirname "$path")"
  printf '%s\n' "$content" >"$path.new"
  mv "$path.new" "$path"
}

done_before() { [ -f "$STATE/$1" ] && [ "$(cat "$STATE/$1")" = "$2" ]; }
remember() { printf '%s\n' "$2" >"$STATE/$1"; }

packages() {
  local missing=() package
  for package in "$@"; do
    dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  run "apt-get update" apt-get update
  run "apt-get install" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
  changed "installed ${missing[*]}"
}

check_system() {
  [ "$(id -u)" -eq 0 ] || die "run as root, for instance with sudo bash"
  [ "$(uname -m)" = "$MACHINE" ] || die "this server is $(uname -m), and nodeadm was given for $MACHINE"
  local release
  # shellcheck disable=SC1091
  release=$(. "$ROOT/etc/os-release" && printf '%s %s' "$ID" "$VERSION_ID")
  case "$release" in
  "ubuntu 22.04" | "ubuntu 24.04") ;;
  *) die "this server runs $release; the script installs on ubuntu 22.04 and 24.04" ;;
  esac
  mkdir -p "$STATE" "$(dirname "$LOG")" "$ROOT/usr/local/bin"
  touch "$LOG"
  chmod 600 "$LOG"
}

install_driver() {
  nvidia-smi >/dev/null 2>&1 && return
  # shellcheck disable=SC2086
  packages $DRIVER_PACKAGES
  modprobe nvidia >>"$LOG" 2>&1 || true
  nvidia-smi >/dev/null 2>&1 && return
  check_secure_boot
  die "the driver is installed and not loaded yet: reboot, and run this again"
}

# With Secure Boot the kernel loads what DKMS has built only once the firmware trusts DKMS's own key, which somebody at
# the console has to confirm. Where it lies: shim-signed's folder on Ubuntu, else that of dkms 3.
check_secure_boot() {
  local key
  mokutil --sb-state 2>/dev/null | grep -q 'SecureBoot enabled' || return 0
  for key in /var/lib/shim-signed/mok/MOK.der /var/lib/dkms/mok.pub; do
    [ -f "$ROOT$key" ] || continue
    mokutil --test-key "$ROOT$key" 2>/dev/null | grep -q 'already enrolled' && return
    die "Secure Boot refuses the driver, whose key is not enrolled: run \`mokutil --import $key\`, which asks for a new" \
      "password, reboot, choose Enroll MOK at the console, give the password, and run this again"
  done
  die "Secure Boot refuses the driver, which is not signed: run \`update-secureboot-policy --new-key\`, then" \
    "\`dpkg-reconfigure nvidia-dkms-$DRIVER\`, and run this again"
}

install_toolkit() {
  local key="$ROOT/usr/share/keyrings/nvidia-container-toolkit.gpg" list download found
  packages ca-certificates curl gpg
  if [ ! -f "$key" ]; then
    download=$(mktemp)
    run "download of NVIDIA's key" curl -fsSL --retry 3 -o "$download" "$TOOLKIT_KEY"
    found=$(gpg --batch --with-colons --show-keys "$download" 2>>"$LOG" | awk -F: '$1 == "fpr" { print $10; exit }')
    [ "$found" = "$TOOLKIT_FINGERPRINT" ] ||
      die "NVIDIA's key: fingerprint ${found:-unreadable}, not $TOOLKIT_FINGERPRINT; nothing is installed with it"
    mkdir -p "$(dirname "$key")"
    run "gpg --dearmor" gpg --batch --yes --dearmor -o "$key.new" "$download"
    chmod 644 "$key.new"
    mv "$key.new" "$key"
    rm -f "$download"
    changed "trusts NVIDIA's packages of the container toolkit"
  fi
  list="$ROOT/etc/apt/sources.list.d/nvidia-container-toolkit.list"
  if write "$list" "deb [signed-by=/usr/share/keyrings/nvidia-container-toolkit.gpg] $TOOLKIT_PACKAGES /"; then
    chmod 644 "$list"
  fi
  packages nvidia-container-toolkit
}

mount_files() {
  [ -n "$NFS" ] || return 0
  local fstab="$ROOT/etc/fstab" there
  packages nfs-common
  there=$(awk -v at="$NFS_PATH" '$1 !~ /^#/ && $2 == at { print $1 }' "$fstab")
  if [ -z "$there" ]; then
    [ -z "$(tail -c 1 "$fstab")" ] || printf '\n' >>"$fstab"
    printf '%s %s nfs4 rw,hard,nfsvers=4.1,_netdev,nofail 0 0\n' "$NFS" "$NFS_PATH" >>"$fstab"
    changed "added $NFS to /etc/fstab"
  elif [ "$there" != "$NFS" ]; then
    die "/etc/fstab mounts $there at $NFS_PATH, and the environment's files are $NFS; take that line out"
  fi
  (umask 022 && mkdir -p "$ROOT$NFS_PATH")
  mountpoint -q "$ROOT$NFS_PATH" && return
  run "mount of $NFS" mount "$NFS_PATH"
  changed "mounted $NFS at $NFS_PATH"
}

checksum() { sha256sum "$1" | cut -d ' ' -f 1; }

install_nodeadm() {
  local download found
  if [ ! -f "$NODEADM" ] || [ "$(checksum "$NODEADM")" != "$NODEADM_SHA256" ]; then
    download=$(mktemp)
    run "download of nodeadm" curl -fsSL --retry 3 -o "$download" "$NODEADM_URL"
    found=$(checksum "$download")
    if [ "$found" != "$NODEADM_SHA256" ]; then
      rm -f "$download"
      die "nodeadm: $NODEADM_URL has sha256 $found, not $NODEADM_SHA256 as given; it is not installed"
    fi
    chmod 755 "$download"
    mv "$download" "$NODEADM"
    changed "installed nodeadm $NODEADM_VERSION"
  fi
  if ! done_before nodeadm-install "$KUBERNETES $PROVIDER" || [ ! -f "$ROOT/usr/bin/kubelet" ]; then
    [ ! -f "$STATE/nodeadm-install" ] || [ "$(cat "$STATE/nodeadm-install")" = "$KUBERNETES $PROVIDER" ] ||
      die "this server was set up for $(cat "$STATE/nodeadm-install"), not $KUBERNETES $PROVIDER; drain it, run" \
        "\`nodeadm upgrade\` or \`nodeadm uninstall\`, remove $STATE, and run this again"
    run "nodeadm install" "$NODEADM" install "$KUBERNETES" --credential-provider "$PROVIDER"
    remember nodeadm-install "$KUBERNETES $PROVIDER"
    changed "installed Kubernetes $KUBERNETES"
  fi
}

check_certificate() {
  [ "$PROVIDER" = iam-ra ] || return 0
  local file
  for file in server.pem server.key; do
    [ -f "$ROOT/etc/iam/pki/$file" ] || die "/etc/iam/pki/$file is missing: put this server's certificate and key there"
  done
  [ "$(stat -c %a "$ROOT/etc/iam/pki/server.key" | tail -c 2)" = 0 ] ||
    die "/etc/iam/pki/server.key is readable for everybody; chmod 600 it"
}

join() {
  if write "$CONFIG" "$NODE_CONFIG"; then
    say "wrote ${CONFIG#"$ROOT"}"
  fi
  if ! done_before joined "$NODE_DIGEST" || [ ! -f "$ROOT/var/lib/kubelet/kubeconfig" ]; then
    run "nodeadm init" "$NODEADM" init --config-source "file://$CONFIG"
    remember joined "$NODE_DIGEST"
    changed "joined $CLUSTER"
  fi
}

# After nodeadm init, which writes containerd's configuration.
use_toolkit() {
  local config="$ROOT/etc/containerd/config.toml"
  grep -Eq "default_runtime_name *= *[\"']nvidia[\"']" "$config" 2>/dev/null && return
  run "nvidia-ctk" nvidia-ctk runtime configure --runtime=containerd --set-as-default "--config=$config"
  run "restart of containerd" systemctl restart containerd
  changed "containers see their GPUs"
}

main() {
  check_system
  install_driver
  install_toolkit
  mount_files
  check_certificate
  install_nodeadm
  join
  use_toolkit
  if [ "$CHANGES" -eq 0 ]; then
    say "$SERVER is in $CLUSTER already; nothing changed"
  else
    say "$SERVER is in $CLUSTER"
  fi
}

# Whole before it begins, also when it comes over a line that breaks.
main </dev/null
