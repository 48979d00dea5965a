"""A resource's URN: urn:pulumi:<stack>::<project>::<types>::<name>."""


def stack_of_urn(urn: str) -> tuple[str, str]:
    """Project and stack that a URN names; an empty text for what is not in it."""
    stack, _, rest = urn.removeprefix("urn:pulumi:").partition("::")
    return rest.partition("::")[0], stack
