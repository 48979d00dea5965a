# The notebook, the modules beside it, and what it imports; papermill runs it with the kernel of ipykernel.
# Source: github.com/nteract/papermill (README), pypi.org/project/papermill 2.7.0.
USER 0
COPY . /notebook/
