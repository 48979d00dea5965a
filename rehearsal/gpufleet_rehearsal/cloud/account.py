"""What the simulated account holds before anybody's `up`: a capacity reservation, a VPC of another team, a key pair.

An environment says it in `rehearsal.<environment>.yaml` beside its stack configuration: a list of
{type, id, name, inputs}, inputs as the provider would send them. It is made once; what is there already stays as it is.
Where the account has quotas as well, the list stands under `holds`, and under `quotas` a list of
`gpufleet.plan.limits.QuotaArgs`; a quota that it does not name is without limit.
"""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.making import draft
from gpufleet_rehearsal.cloud.refusing import CloudError
from gpufleet_rehearsal.yaml_file import read_yaml


class AccountError(UserError):
    """The file cannot be used; the text is one line that names file and row."""


class Existing(BaseModel):
    """A resource of the account that no stack of ours manages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str
    id: str
    name: str
    inputs: dict[str, JsonValue] = {}


class Contents(BaseModel):
    """All that the file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    holds: list[Existing] = []
    quotas: list[dict[str, JsonValue]] = []


QUOTAS = "quotas"
"""Key under which the store remembers the quotas, as JSON."""


def furnish(cloud: Cloud, file: Path) -> None:
    """Put into the cloud what the file lists; a file that is not there means an empty account.

    Errors: UnreadableFile, AccountError and QuotaError, lines that name the file; nothing is made then.
    """
    if not file.exists():
        return
    document = read_yaml(file) or []
    try:
        if isinstance(document, dict):
            contents = Contents.model_validate(document)
        else:
            contents = Contents(holds=TypeAdapter(list[Existing]).validate_python(document))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        keys = Contents.model_fields if len(first["loc"]) == 1 else Existing.model_fields
        extra = first["type"] == "extra_forbidden"
        reason = f"is no key here; known: {', '.join(keys)}" if extra else first["msg"]
        raise AccountError(f"{file}: {place or 'the file'}: {reason}") from error
    quotas = _quotas(contents.quotas, file)
    with cloud.store.transaction():
        # Unlike resources, quotas are what the file says now: raising one is how a rehearsal goes on.
        cloud.store.remember(QUOTAS, json.dumps(quotas))
        for number, row in enumerate(contents.holds):
            if cloud.store.get(row.type, row.id) is not None:
                continue
            urn = f"urn:pulumi:account::account::{row.type}::{row.name}"
            try:
                kind = cloud.row(row.type)
            except CloudError as error:
                raise AccountError(f"{file}: {number}.type: {error.text}") from error
            made = draft(cloud.around, kind, row.type, urn, row.name, row.inputs, id_=row.id)
            now = cloud.clock.now()
            cloud.store.add(
                type_=row.type, id_=row.id, urn=urn, name=row.name, inputs=made.inputs, outputs=made.outputs,
                at=now, ready_at=now,
            )  # fmt: skip


def _quotas(entries: list[dict[str, JsonValue]], file: Path) -> list[dict[str, JsonValue]]:
    """The quotas, which are legal. Errors: QuotaError."""
    if entries:
        from gpufleet.plan.limits import read_quotas

        read_quotas(entries, f"{file}: quotas")
    return entries
