"""What an image has to pass before it is pushed: scans, secrets, and the organisation's own rules.

What cannot be checked fails as well. Lines are those of the rules elsewhere:
`<image>: <what>=<value>: <what is illegal>; <how to mend it> [<check>]`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from gpufleet.errors import UserError
from gpufleet.images.mirror import sbom
from gpufleet.images.mirror.image_list import Allowed, Checks, ImageList, Organisation, Scan
from gpufleet.images.mirror.oci_layout import OciLayout
from gpufleet.images.mirror.scan_report import SEVERITIES, Vulnerability, read_report
from gpufleet.images.mirror.secrets import Secret, known_patterns, secrets_in
from gpufleet.images.mirror.skopeo import run_command
from gpufleet.rules.messages import format_value, join_words
from gpufleet.rules.rule import Finding, Severity, Status

_SHOWN = 5
"""Of many findings; the report has them all."""
_ROOT = ("", "0", "root")


@dataclass
class ImageVerdict:
    """refused: a line each. notes: what was not looked at. scans: for the lock file."""

    refused: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scans: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class CheckContext:
    """Values for {layout}, {name}, {tag}, {digest} and {report} in a check's command.

    beside: the list's directory. work: for files that nobody keeps. names: digests that a report may name the image by.
    """

    beside: Path
    work: Path
    layout: Path
    name: str
    tag: str
    names: Sequence[str]

    def filled(self, words: str, report: Path | None = None) -> str:
        """The words with their places."""
        given = {"layout": self.layout, "name": self.name, "tag": self.tag, "report": report}
        for key, value in {**given, "digest": self.names[0].partition(":")[2]}.items():
            words = words.replace(f"{{{key}}}", str(value))
        return words


def validate_image_list(wanted: ImageList, today: date) -> list[str]:
    """Faults of the list's checks, such as expired exceptions: a line each."""
    lines = []
    secrets = [(f"checks.secrets.allow[{at}]", each) for at, each in enumerate(wanted.checks.secrets.allow)]
    scans = [
        (f"checks.scans[{scan}].allow[{at}]", each)
        for scan, checked in enumerate(wanted.checks.scans)
        for at, each in enumerate(checked.allow)
    ]
    for where, each in [*secrets, *scans]:
        if each.expires < today:
            lines.append(f"{where}: expires={each.expires}: {each.id} is no longer allowed; fix it, or set a new date")
    for where, each in secrets:
        if each.id not in known_patterns():
            lines.append(f"{where}: id={each.id}: pattern not found; use {join_words(known_patterns())}")
    if wanted.checks.organisation.refused_licences and wanted.checks.sbom is None:
        lines.append("checks.organisation.refused_licences: licences are read from an SBOM; give checks.sbom a command")
    for image in wanted.images:
        if finding := disallowed_source(wanted.checks.organisation, image.source):
            lines.append(finding.line(image.source))
    return lines


def disallowed_source(rules: Organisation, source: str) -> Finding | None:
    """A finding if the organisation does not allow it as a base image."""
    if not rules.sources or any(fnmatchcase(source, each) for each in rules.sources):
        return None
    problem, fix = (
        "is not an allowed base image",
        f"use one of {format_value(rules.sources)}, or have it added to the list",
    )
    return _finding("image-source", "from", source, problem, fix)


def check_image(
    checks: Checks, image: OciLayout, sbom_file: Path | None, places: CheckContext, memory: Path
) -> ImageVerdict:
    """All checks of one image. Errors: UserError when one cannot be made."""
    verdict = ImageVerdict()
    for scan in checks.scans:
        _scanned(scan, places, verdict)
    if not checks.scans:
        verdict.notes.append("not verified: vulnerabilities; no scan is listed under checks.scans")
    verdict.refused += _secret(secrets_in(image, memory), checks.secrets.allow)
    verdict.refused += _own(checks.organisation, image, sbom_file, places)
    return verdict


def _scanned(scan: Scan, places: CheckContext, verdict: ImageVerdict) -> None:
    number = len(verdict.scans)
    file = places.beside / places.filled(scan.report) if scan.report else places.work / f"report-{number}.json"
    if scan.command:
        file.parent.mkdir(parents=True, exist_ok=True)
        # A report of last time must not count when the scanner writes none.
        file.unlink(missing_ok=True)
        command = [places.filled(word, file) for word in scan.command]
        code, said = run_command(command, lambda line: None, places.beside)
        if code and not file.is_file():
            raise UserError(f"scan={command[0]}: failed (exit code {code}): {' '.join(said.split())[-300:]}")
    report = read_report(file)
    if not scan.command and not any(name.partition(":")[2].encode() in file.read_bytes() for name in places.names):
        verdict.notes.append(f"not verified: that {file.name} is of this image; it does not name its digest")
    allowed = {each.id: each for each in scan.allow}
    gate = SEVERITIES.index(scan.refuse_from)
    bad = [each for each in report.found if _counts(each, gate, scan.unknown) and each.id not in allowed]
    if bad:
        first = ", ".join(f"{each.id} ({each.severity})" for each in bad[:_SHOWN])
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        verdict.refused.append(
            _finding(
                "image-scan",
                "scan",
                file.name,
                f"{len(bad)} from {scan.refuse_from} on: {first}{more}",
                f"take a newer image, or allow each with reason and expiry under checks.scans[{number}].allow",
            )
        )
    verdict.scans.append(
        {
            "format": report.format,
            "found": {name: n for name in (*SEVERITIES, "unknown") if (n := _count(report.found, name))},
            "allowed": sorted(each.id for each in report.found if each.id in allowed),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }
    )


def _counts(found: Vulnerability, gate: int, unknown: str) -> bool:
    if found.severity == "unknown":
        return unknown == "refuse"
    return SEVERITIES.index(found.severity) >= gate


def _count(found: Iterable[Vulnerability], severity: str) -> int:
    return sum(each.severity == severity for each in found)


def _secret(found: Sequence[Secret], allow: Sequence[Allowed]) -> Iterator[Finding]:
    bad = [
        each
        for each in found
        if not any(rule.id == each.pattern and fnmatchcase(each.place, rule.path) for rule in allow)
    ]
    for each in bad[:_SHOWN]:
        layer = "" if each.where == "config" else f" (layer {each.where[7:19]})"
        problem = f"anyone who pulls the image can read it{layer}, even where a later layer deletes the file"
        fix = "build the image without it and change the secret, or allow it under checks.secrets.allow"
        yield _finding("image-secret", each.pattern, each.place, problem, fix)
    if len(bad) > _SHOWN:
        problem, fix = f"{len(bad) - _SHOWN} more are not shown", "fix these first"
        yield _finding("image-secret", "secrets", len(bad), problem, fix)


def _own(rules: Organisation, image: OciLayout, sbom_file: Path | None, places: CheckContext) -> Iterator[Finding]:
    user = str((image.configuration.get("config") or {}).get("User") or "")
    if rules.user == "non-root" and user.partition(":")[0] in _ROOT:
        problem, fix = "its programs run as root", "set another user with wrap.user"
        yield _finding("image-user", "user", user or "root", problem, fix)
    if rules.refused_licences:
        assert sbom_file is not None, "required when the list was validated"
        for package, licence in sbom.licences(sbom_file):
            if any(fnmatchcase(licence, each) for each in rules.refused_licences):
                problem, fix = f"{package} has this licence", "leave the package out, or have the rule changed"
                yield _finding("image-licence", "licence", licence, problem, fix)
    for command in rules.commands:
        words = [places.filled(word) for word in command]
        code, said = run_command(words, lambda line: None, places.beside)
        if code:
            told = " ".join(said.split())[-300:] or "no output"
            yield _finding("image-command", "command", words[0], f"exit code {code}: {told}", "fix what it reports")


def _finding(check: str, argument: str, value: object, problem: str, fix: str) -> Finding:
    return Finding(check, Severity.ERROR, Status.FAIL, argument, value, problem, fix)
