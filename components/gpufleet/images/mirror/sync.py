"""Sync a list of images: inspect each, and if it has changed, copy, derive, check, push and lock it."""

import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.images import ecr
from gpufleet.images.builder import BuilderFailed, find_builder
from gpufleet.images.mirror import sbom
from gpufleet.images.mirror.checks import CheckContext, check_image, validate_image_list
from gpufleet.images.mirror.credentials import Credentials
from gpufleet.images.mirror.derived_image import build_derived_image, derived_image_inputs, is_derived
from gpufleet.images.mirror.image_list import ImageList, ListItem, read_image_list, select_items
from gpufleet.images.mirror.lock import LockEntry, lock_file, read_lock, write_lock
from gpufleet.images.mirror.oci_layout import OciLayout, annotate
from gpufleet.images.mirror.progress import layer_progress, report_progress
from gpufleet.images.mirror.skopeo import RemoteImage, Say, Skopeo, find_skopeo
from gpufleet.images.mirror.source_image import layers_of, missing_bytes
from gpufleet.images.repository import Repository

_FORMAT = 1
"""Of what is pushed; raised when gpufleet makes other images of the same list."""
_PREFIX = "dev.gpufleet."


@dataclass
class SyncOutcome:
    """The outcome for one image.

    did: unchanged, pushed, would-push or failed. because: what has changed. moved: the digest that the source's tag
    has now, where the lock keeps another. missing: bytes that a dry run found to be fetched. errors: a line each.
    """

    name: str
    did: str = "failed"
    because: str = ""
    moved: str | None = None
    missing: int | None = None
    image: str | None = None
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Sync:
    """One run over a list. update: take sources' tags as they are now, and not as the lock has them."""

    file: Path
    wanted: ImageList
    skopeo: Skopeo
    cache: Path
    update: bool
    dry_run: bool
    say: Say

    @property
    def beside(self) -> Path:
        return self.file.parent

    def run(self, only: Sequence[str] = ()) -> list[SyncOutcome]:
        """Every image, one after the other; what fails leaves the others alone. Errors: UserError for the list."""
        chosen = select_items(self.file, self.wanted, only)
        lock = read_lock(lock_file(self.file))
        outcomes = []
        with _alone(self.cache):
            for number, item in enumerate(chosen, start=1):
                outcome = SyncOutcome(item.name)
                outcomes.append(outcome)
                try:
                    self._one(item, lock, outcome, f"[{number}/{len(chosen)}]")
                except BuilderFailed as error:
                    if error.code == 130:
                        raise
                    outcome.errors.append(f"{item.name}: {error}")
                except UserError as error:
                    outcome.errors += [line if item.name in line else f"{item.name}: {line}" for line in _lines(error)]
        return outcomes

    def _one(self, item: ListItem, lock: dict[str, LockEntry], outcome: SyncOutcome, count: str) -> None:
        known = lock.get(item.name)
        digest = self._digest(item, known, outcome)
        inputs = inputs_of(item, digest, self.wanted, self.beside)
        tag = f"{item.tag}-{inputs[:12]}" if self.wanted.unique_tags else item.tag
        there = self.skopeo.inspect(item.target, f":{tag}")
        outcome.because = _because(known, there, digest, inputs)
        if not outcome.because and known:
            outcome.did, outcome.image = "unchanged", f"{item.target.url}@{known.pushed}"
            self.say(f"{count} {item.name}: unchanged")
            return
        self.say(f"{count} {item.name}: {outcome.because}")
        layers = layers_of(self.skopeo, item, digest)
        outcome.missing = missing_bytes(layers, self.cache)
        if self.dry_run:
            outcome.did = "would-push"
            return
        outcome.notes += ecr.advice(item.target, tag)
        base = self._pulled(digest, item, layers, outcome.missing)
        with tempfile.TemporaryDirectory(prefix="gpufleet-", dir=self.cache) as work:
            image = self._made(item, base, digest)
            image, locked = self._passed(item, image, digest, inputs, tag, outcome, Path(work))
        if outcome.errors:
            return
        self.say(f"  pushing {item.target.url}:{tag}")
        sizes = {str(each["digest"]): int(each["size"]) for each in image.manifest["layers"]}
        self.skopeo.push(image, item.target, tag, layer_progress(self.say, sizes))
        pushed = self.skopeo.inspect(item.target, f":{tag}")
        if pushed is None or pushed.digest != image.digest:
            raise UserError(f"{item.name}: the registry holds another digest than was pushed; does somebody else push?")
        lock[item.name] = locked
        # After each image: a run that breaks off has nothing to do again.
        write_lock(lock_file(self.file), lock)
        outcome.did, outcome.image = "pushed", f"{item.target.url}@{image.digest}"

    def _digest(self, item: ListItem, known: LockEntry | None, outcome: SyncOutcome) -> str:
        """The source's digest that counts."""
        if item.digest:
            return item.digest
        now = self.skopeo.inspect(Repository("", item.image.source), f":{item.tag}")
        locked = known.digest if known and known.source == item.source else None
        if now is None:
            if locked is None:
                raise UserError(f"{item.source}: image not found; check the name and the tag in the list")
            outcome.notes.append(f"{item.source}: the tag is gone; what is locked is kept")
            return locked
        if locked is None or now.digest == locked:
            return now.digest
        outcome.moved = now.digest
        if self.update:
            return now.digest
        outcome.notes.append(
            f"{item.source}: the tag has moved from {locked[:19]} to {now.digest[:19]}; --update takes it"
        )
        return locked

    def _pulled(self, digest: str, item: ListItem, layers: Mapping[str, int], due: int) -> OciLayout:
        name = f"{digest.partition(':')[2]}-{item.image.platform.replace('/', '-')}"
        base = OciLayout.create(self.cache, name)
        if not base.complete or due:
            (base.folder / "index.json").unlink(missing_ok=True)
            self.say(f"  fetching {due / 1e6:.1f} MB of {item.source}")
            source = Repository("", item.image.source)
            with report_progress(self.cache, base.folder, due, self.say):
                self.skopeo.pull(source, digest, item.image.platform, base, layer_progress(self.say, layers))
        return base

    def _made(self, item: ListItem, base: OciLayout, digest: str) -> OciLayout:
        """The image as it is to be, but for its annotations; what was built once is not built again."""
        made = OciLayout.create(self.cache, f"made-{_hash(_content(item, digest, self.beside))}")
        if not is_derived(item.image.wrap):
            made.put(base.manifest)
        elif not made.complete:
            self.say("  wrapping")
            build_derived_image(find_builder(), item.image.wrap, base, made, item.image.platform, self.beside, self.say)
        return made

    def _passed(
        self, item: ListItem, image: OciLayout, digest: str, inputs: str, tag: str, outcome: SyncOutcome, work: Path
    ) -> tuple[OciLayout, LockEntry]:
        """The image with its annotations, and what is written down of it; what refuses it is in `outcome.errors`."""
        checks = self.wanted.checks
        name = item.target.url.rpartition("/")[2]
        places = CheckContext(self.beside, work, image.folder, name, item.tag, (digest, image.digest))
        record, file = None, None
        notes = {"org.opencontainers.image.base.name": item.source, "org.opencontainers.image.base.digest": digest}
        notes |= {f"{_PREFIX}inputs": inputs, f"{_PREFIX}platform": item.image.platform}
        if checks.sbom:
            file = self.beside / f"{self.file.stem}.sbom" / f"{name}-{item.tag}.cdx.json"
            found = sbom.write_sbom([places.filled(word, file) for word in checks.sbom.command], file, self.beside)
            record = {"file": str(file.relative_to(self.beside)), "sha256": found}
            notes[f"{_PREFIX}sbom.sha256"] = found
        self.say("  checking")
        verdict = check_image(checks, image, file, places, self.cache / "secrets")
        outcome.notes += verdict.notes
        outcome.errors += [each.line(item.name) for each in verdict.refused]
        final = OciLayout.create(self.cache, f"final-{inputs}")
        final.put(annotate(image.manifest, notes))
        return final, LockEntry(
            item.source, digest, item.image.platform, inputs, tag, final.digest, verdict.scans, record
        )


def sync_images(
    file: Path,
    *,
    cache: Path,
    say: Say,
    update: bool = False,
    dry_run: bool = False,
    only: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    trusted: Path | None = None,
) -> list[SyncOutcome]:
    """Sync a list. Errors: UserError for faults of the list or this machine; others are in `SyncOutcome.errors`.

    trusted: a list whose logins count instead: a list of somebody else could have a password sent to any registry.
    """
    wanted = read_image_list(file)
    faults = validate_image_list(wanted, datetime.now(UTC).date())
    faults += _recipe_faults(wanted, file.parent)
    if faults:
        raise UserError("\n".join(f"{file}: {line}" for line in faults))
    logins = read_image_list(trusted).logins if trusted else wanted.logins
    credentials = Credentials(logins, environment) if environment is not None else Credentials(logins)
    credentials.check()
    if any(is_derived(image.wrap) for image in wanted.images):
        find_builder()
    skopeo = Skopeo(find_skopeo(), credentials)
    return Sync(file, wanted, skopeo, cache, update, dry_run, say).run(only)


def _recipe_faults(wanted: ImageList, beside: Path) -> list[str]:
    faults = []
    for image in wanted.images:
        try:
            derived_image_inputs(image.wrap, beside)
        except UserError as error:
            faults.append(str(error))
    return faults


def inputs_of(item: ListItem, digest: str, wanted: ImageList, beside: Path) -> str:
    """64 hexadecimal digits of all that decides what is pushed, and whether: checks that change are made again."""
    return _hash([*_content(item, digest, beside), wanted.checks.model_dump(mode="json")])


def _content(item: ListItem, digest: str, beside: Path) -> list[object]:
    """All that decides what is pushed."""
    wrap = item.image.wrap
    return [_FORMAT, item.source, digest, item.image.platform, wrap.user, derived_image_inputs(wrap, beside)]


def _hash(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _because(known: LockEntry | None, there: RemoteImage | None, digest: str, inputs: str) -> str:
    """What has changed; nothing when all is as it was."""
    if known is None:
        return "is not locked yet"
    if known.digest != digest:
        return f"the source is {digest[:19]} now"
    if known.inputs != inputs:
        return "what is put on top, or a check, has changed"
    if there is None:
        return "is gone from the registry"
    return "" if there.digest == known.pushed else "the registry holds another image under the tag"


def _lines(error: UserError) -> Iterator[str]:
    yield from str(error).splitlines()


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Two runs with one cache would take each other's files away. Errors: UserError."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UserError(f"cache={cache}: another sync is at work there; wait, or name another") from error
            for stale in cache.glob("gpufleet-*"):
                shutil.rmtree(stale, ignore_errors=True)
            yield
    except OSError as error:
        raise UserError(f"cache={cache}: {error.strerror}; name another with --cache") from error
