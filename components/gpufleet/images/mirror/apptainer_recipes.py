"""The recipes of a whole list: which image each one takes, and where it is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.images.mirror import apptainer
from gpufleet.images.mirror.image_list import ImageList, ListItem, read_image_list, select_items
from gpufleet.images.mirror.lock import LockEntry, lock_file, read_lock
from gpufleet.images.mirror.sync import inputs_of
from gpufleet.images.repository import Repository


@dataclass(frozen=True)
class WrittenRecipe:
    """name: of the image in the list. image: what it is made from. command: what builds `sif` in `folder`."""

    name: str
    file: str
    sif: str
    image: str
    folder: str
    command: str


def write_recipes(
    file: Path, to: Path, say: Callable[[str], None], *, source: bool = False, only: Sequence[str] = ()
) -> list[WrittenRecipe]:
    """Write a recipe for each image. source: of the source's registry and not of the own. Errors: UserError."""
    wanted = read_image_list(file)
    chosen = select_items(file, wanted, only)
    lock = read_lock(lock_file(file))
    recipes, faults = [], []
    for item in chosen:
        try:
            recipes.append(_recipe(item, lock.get(item.name), wanted, file, source, say))
        except UserError as error:
            faults += [f"{item.name}: {line}" for line in str(error).splitlines()]
    names = [recipe.name for recipe in recipes]
    faults += [
        f"{each}.def: two images have this name; give one another `to`" for each in {*names} if names.count(each) > 1
    ]
    if faults:
        raise UserError("\n".join(faults))
    for host in dict.fromkeys(Repository("", recipe.origin.partition("@")[0]).host for recipe in recipes):
        say(f"note: {host} may want a login: {apptainer.login_line(Repository('', f'{host}/x'), wanted.logins)}")
    return [
        WrittenRecipe(
            item.name,
            str(apptainer.write_recipe(recipe, to)),
            f"{recipe.name}.sif",
            recipe.origin,
            str(to),
            recipe.command,
        )
        for item, recipe in zip(chosen, recipes, strict=True)
    ]


def _recipe(
    item: ListItem, locked: LockEntry | None, wanted: ImageList, file: Path, source: bool, say: Callable[[str], None]
) -> apptainer.ApptainerRecipe:
    name = apptainer.recipe_name(item, wanted.to)
    if source:
        digest = item.digest or (locked.digest if locked and locked.source == item.source else None)
        if digest is None:
            raise UserError("its digest is not known; pin it in the list as TAG@sha256:..., or sync the list first")
        return apptainer.recipe_from_source(item, digest, name, file.parent)
    if locked is None:
        fix = f"`gpufleet images sync {file}` pushes it; --from-source takes the source's own registry"
        raise UserError(f"is not locked, so its digest is unknown; {fix}")
    if locked.inputs != inputs_of(item, item.digest or locked.digest, wanted, file.parent):
        say(f"note: {item.name}: the list has changed since it was pushed; the recipe is of what was pushed")
    return apptainer.recipe_from_mirror(item, locked, name)
