"""Every failure of Azure Resource Manager is one line, and nobody waits for long; a server on the loopback plays it."""

import pytest

from gpufleet.preflight.azure import arm as arm_module
from gpufleet.preflight.azure.arm import ArmClient, ArmError, subscription_of

USAGES = "/subscriptions/00000000-0000-0000-0000-000000000001/usages"


def ask(arm: ArmClient):
    return arm.listed("/usages", "Microsoft.Compute/locations/usages/read", api_version="2024-07-01")


def refused(code, message="no\nentry"):
    return {"error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    ("status", "body", "line"),
    [
        (
            401,
            refused("ExpiredAuthenticationToken"),
            "Azure credentials: not accepted (ExpiredAuthenticationToken); sign in with `az login`, or set "
            "AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET",
        ),
        (
            403,
            refused("AuthorizationFailed"),
            "Microsoft.Compute/locations/usages/read: denied by Azure; the role Reader on the subscription allows it "
            "(AuthorizationFailed: no entry)",
        ),
        (
            404,
            refused("SubscriptionNotFound"),
            "Microsoft.Compute/locations/usages/read: Azure finds no such thing: SubscriptionNotFound: no entry",
        ),
        (400, b"<html>", "Microsoft.Compute/locations/usages/read: HTTP 400"),
        (400, ["x"], "Microsoft.Compute/locations/usages/read: HTTP 400"),
        (302, b"", "Microsoft.Compute/locations/usages/read: HTTP 302"),
        (200, b"<html>", "Microsoft.Compute/locations/usages/read: Azure's answer is not JSON"),
        (200, [], "Microsoft.Compute/locations/usages/read: Azure's answer is not an object"),
    ],
)
def test_a_failure_is_one_line_and_is_not_tried_again(azure, arm, waits, status, body, line):
    azure.says(USAGES, (status, {}, body))
    with pytest.raises(ArmError) as error:
        ask(arm)
    assert str(error.value) == line
    assert (len(azure.asked), waits) == (1, [])


@pytest.mark.parametrize(("headers", "wait"), [({"Retry-After": "7"}, 7), ({}, 1), ({"Retry-After": "Fri, 31"}, 1)])
@pytest.mark.parametrize("status", [429, 503])
def test_azure_is_given_the_time_that_it_asks_for(azure, arm, waits, status, headers, wait):
    azure.says(USAGES, (status, headers, {}), {"value": [{"limit": 24}]})
    assert ask(arm) == [{"limit": 24}]
    assert waits == [wait]


def test_throttled_for_good_is_one_line(azure, arm, waits):
    azure.says(USAGES, (429, {"Retry-After": "2"}, {}))
    with pytest.raises(ArmError) as error:
        ask(arm)
    assert str(error.value) == (
        "Microsoft.Compute/locations/usages/read: Azure answers too many requests; try again later"
    )
    assert (len(azure.asked), waits) == (3, [2, 2])


def test_nobody_waits_for_minutes(azure, arm, waits):
    azure.says(USAGES, (429, {"Retry-After": "300"}, {}))
    with pytest.raises(ArmError, match="too many requests"):
        ask(arm)
    assert (len(azure.asked), waits) == (1, [])


def test_the_token_goes_nowhere_else(azure, arm):
    azure.says(USAGES, {"value": [], "nextLink": "https://elsewhere.example/usages"})
    with pytest.raises(ArmError, match="continues its answer at another place: https://elsewhere"):
        ask(arm)


def test_nobody_at_home_is_one_line(azure, arm):
    azure.server.shutdown()
    azure.server.server_close()
    with pytest.raises(ArmError, match=r"^Microsoft.Compute/locations/usages/read: Azure does not answer: .*refused"):
        ask(arm)


def test_no_credentials_are_one_line(monkeypatch):
    import azure.identity
    from azure.core.exceptions import ClientAuthenticationError

    class Nobody:
        def __init__(self, **_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def get_token(self, scope):
            assert scope == "https://management.azure.com/.default"
            raise ClientAuthenticationError("failed to retrieve a token\nAttempted credentials:\n\tEnvironment")

    monkeypatch.setattr(azure.identity, "DefaultAzureCredential", Nobody)
    with pytest.raises(ArmError) as error:
        arm_module.default_token()
    assert str(error.value) == (
        "Azure credentials: failed to retrieve a token; sign in with `az login`, or set AZURE_CLIENT_ID, "
        "AZURE_TENANT_ID and AZURE_CLIENT_SECRET"
    )


def test_the_subscription(monkeypatch):
    for name in ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ArmError, match=r"^Azure subscription: not known; set ARM_SUBSCRIPTION_ID"):
        subscription_of({})
    monkeypatch.setenv("ARM_SUBSCRIPTION_ID", "env")
    assert subscription_of({}) == "env"
    assert subscription_of({"azure-native:subscriptionId": "config"}) == "config"


def test_what_is_refused_is_asked_once(azure, arm):
    azure.says(USAGES, (403, {}, refused("AuthorizationFailed")))
    for _ in range(2):
        with pytest.raises(ArmError, match="denied by Azure"):
            ask(arm)
    assert len(azure.asked) == 1
    azure.says("/subscriptions/00000000-0000-0000-0000-000000000001/skus", {"value": []})
    assert arm.listed("/skus", "Microsoft.Compute/skus/read") == []


def test_credentials_are_looked_for_once(azure):
    looked = []

    def nobody():
        looked.append(1)
        raise ArmError("Azure credentials: none")

    arm = ArmClient("x", nobody, azure.base)
    for permission in ("one", "other"):
        with pytest.raises(ArmError, match=r"^Azure credentials: none$"):
            arm.listed("/usages", permission)
    assert (len(looked), azure.asked) == (1, [])
