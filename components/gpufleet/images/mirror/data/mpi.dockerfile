# What the image has stays; host keys are every job's own, and a secret in an image. Jobs run with the uid 1000.
RUN missing="" \
    && { command -v mpirun > /dev/null || missing="$missing openmpi-bin"; } \
    && { command -v ssh > /dev/null || missing="$missing openssh-client"; } \
    && { test -x /usr/sbin/sshd || missing="$missing openssh-server"; } \
    && if test -n "$missing"; then apt-get update \
        && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing \
        && rm -rf /var/lib/apt/lists/*; fi \
    && rm -f /etc/ssh/ssh_host_* \
    && { grep -q '^[^:]*:[^:]*:1000:' /etc/passwd || useradd --uid 1000 --create-home trainer; }
