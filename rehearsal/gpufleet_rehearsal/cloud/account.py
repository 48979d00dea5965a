"""What the simulated account holds before anybody's `up`: a capacity reservation, a VPC of another team, a key pair.

An environment says it in `rehearsal.<environment>.yaml` beside its stack configuration: a list of
{type, id, name, inputs}, inputs as the provider would send them. It is made once; what is there already stays as it is.
"""

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


def furnish(cloud: Cloud, file: Path) -> None:
    """Put into the cloud what the file lists; a file that is not there means an empty account.

    Errors: UnreadableFile and AccountError, one line that names the file; nothing is made then.
    """
    if not file.exists():
        return
    try:
        rows = TypeAdapter(list[Existing]).validate_python(read_yaml(file) or [])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise AccountError(f"{file}: {place or 'the file'}: {first['msg']}") from error
    with cloud.store.transaction():
        for number, row in enumerate(rows):
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
