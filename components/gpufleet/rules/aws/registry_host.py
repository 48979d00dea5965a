"""Rules on the host name of a registry, which its account decides."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("aws-registry-account", Severity.ERROR)
def account_known(*, makes_repository: bool, account_given: bool, used: str) -> Outcome:
    """The account of a registry is known: from a repository that is created, or as an argument.

    `used`: the argument that takes the host although nothing is created, "" for none.
    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html: the host begins with the account.
    """
    if makes_repository or account_given or not used:
        return passed()
    problem = f"is required by {used} when no repository is created"
    return failed("account_id", None, problem, "give the account of the registry, or a name in repositories")


def validate_registry_host(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the registry's host. Reads repositories, existing_repositories, pull_through and account_id."""
    existing, caches = coerce.texts(args, "existing_repositories"), coerce.mapping(args, "pull_through")
    return [
        account_known(
            makes_repository=bool(coerce.texts(args, "repositories")),
            account_given=args.get("account_id") is not None,
            used="existing_repositories" if existing else "pull_through" if caches else "",
        )
    ]
