"""Packages whose names are imported on first use: a program loads only the modules that it uses."""

from collections.abc import Callable
from importlib import import_module

from gpufleet.pulumi_package.components import COMPONENTS, full_name


def lazy_names(package: str, cloud: str = "", **more: str) -> Callable[[str], object]:
    """The `__getattr__` of a package: components of a cloud, and more names, each with its module in the package."""
    entries = [entry.split(":") for entry in COMPONENTS.get(cloud, ())]
    modules = {name: full_name(cloud, module) for module, name in entries if "." not in module}
    modules |= {name: f"{package}.{module}" for name, module in more.items()}

    def attribute(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package} has no attribute {name}")
        return getattr(import_module(modules[name]), name)

    return attribute
