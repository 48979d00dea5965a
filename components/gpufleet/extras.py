"""How to install what is missing, said in one place.

gpufleet is on no package index. A text that tells users to install it by name alone would send them to whoever
registers that name there.
"""


def install_hint(extras: str) -> str:
    """The fix for a missing package. extras: those of pyproject.toml that bring it, by comma."""
    return f"run `pip install '.[{extras}]'` in your checkout of gpufleet"
