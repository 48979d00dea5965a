# jupyterhub brings jupyterhub-singleuser, in the version of the hub that gpufleet:notebooks installs.
RUN PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir jupyterlab==@VERSION@ jupyterhub==@HUB@
EXPOSE 8888
