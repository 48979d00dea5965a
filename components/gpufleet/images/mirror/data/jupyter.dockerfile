RUN PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir jupyterlab==@VERSION@
EXPOSE 8888
