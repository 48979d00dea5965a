"""How to install what is missing, said in one place.

gpufleet is on no package index. A text that tells users to install it by name alone would send them to anyone who
registers that name there.
"""

from gpufleet.repository import PLACEHOLDER, is_checkout, release_tag, repository


def install_hint(extras: str) -> str:
    """The fix for a missing package. extras: those of pyproject.toml that bring it, by comma."""
    if is_checkout():
        return f"run `pip install '.[{extras}]'` in your checkout of gpufleet"
    place = repository()
    requirement = f"gpufleet[{extras}] @ git+{place or PLACEHOLDER}@{release_tag()}"
    return f'run `pip install "{requirement}"`' + ("" if place else ", with your repository's address")
