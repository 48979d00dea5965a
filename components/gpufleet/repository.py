"""Where this gpufleet comes from: the address of its repository, which a published package knows."""

from pathlib import Path

PLACEHOLDER = "https://YOUR-HOST/gpufleet"
"""What a text says where the address is not known."""


def repository() -> str | None:
    """The repository's address by the installed package's metadata; None where it was built without one."""
    # Not above: it takes longer to import than most commands take.
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("gpufleet").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = dict(str(each).split(", ", 1) for each in urls)
    return named.get("Repository")


def release_tag() -> str:
    """The repository's tag of this release."""
    from importlib.metadata import version

    return f"v{version('gpufleet')}"


def shipped(folder: str) -> Path:
    """A folder of the repository that a wheel has inside of the package: `stacks` or `templates`."""
    return (Path(__file__).parents[2] if is_checkout() else Path(__file__).parent) / folder


def is_checkout() -> bool:
    """Whether this module lies in a checkout of the repository, and not in an installed wheel."""
    return (Path(__file__).parents[2] / "pyproject.toml").is_file()
