"""Azure over HTTP: recorded-style answers of Resource Manager, from a server on the loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from gpufleet.preflight import arm as arm_module
from gpufleet.preflight.arm import Arm, ArmError, subscription_of
from gpufleet.preflight.azure_account import AzureAccount
from gpufleet.preflight.azure_facts import Batch, Sku, Usage

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
BELOW = f"/subscriptions/{SUBSCRIPTION}"
SKUS = f"{BELOW}/providers/Microsoft.Compute/skus"
USAGES = f"{BELOW}/providers/Microsoft.Compute/locations/eastus/usages"
ACCOUNTS = f"{BELOW}/providers/Microsoft.Batch/batchAccounts"
TRAIN = f"{BELOW}/resourceGroups/ml/providers/Microsoft.Batch/batchAccounts/train"


class Azure:
    """answers: path -> list of (status, headers, body), given one after the other, the last one for ever."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        azure = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                azure.asked.append((url.path, parse_qs(url.query), self.headers["Authorization"]))
                queue = azure.answers.get(url.path, [(404, {}, {"error": {"code": "NotFound", "message": "no"}})])
                status, headers, body = queue.pop(0) if len(queue) > 1 else queue[0]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def says(self, path, *pages):
        self.answers[path] = [page if isinstance(page, tuple) else (200, {}, page) for page in pages]


@pytest.fixture
def azure():
    served = Azure()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def arm(azure, waits):
    return Arm(SUBSCRIPTION, lambda: "secret", azure.base, waits.append)


@pytest.fixture
def account(arm):
    return AzureAccount("East US", arm, ["mine"])


def sku(name="Standard_NC6", zones=("2", "1"), restrictions=(), **more):
    places = [{"location": "eastus", "zones": list(zones)}, {"location": "westus", "zones": ["9"]}]
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": "standardNCFamily",
        "locationInfo": places,
        "restrictions": list(restrictions),
    } | more


def restriction(kind, zones=()):
    info = {"locations": ["eastus"], "zones": list(zones)}
    return {
        "type": kind,
        "values": ["eastus"],
        "restrictionInfo": info,
        "reasonCode": "NotAvailableForSubscription",
    }


def test_sizes_over_all_pages(azure, account):
    closed = [restriction("Zone", ["2"]), restriction("Location")]
    azure.says(
        SKUS,
        {"value": [sku("Standard_ND96asr_v4")], "nextLink": f"{azure.base}{SKUS}?page=2"},
        {"value": [sku(restrictions=closed), {"resourceType": "disks", "name": "Standard_NC24"}]},
    )
    assert account.sku("standard_nc6") == Sku(
        ("1", "2"),
        (("Zone", "NotAvailableForSubscription", ("2",)), ("Location", "NotAvailableForSubscription", ())),
    )
    assert account.sku("Standard_ND96asr_v4") == Sku(("1", "2"), ())
    assert account.sku("Standard_NC24") is None
    first, second = azure.asked
    assert first[1:] == ({"api-version": ["2021-07-01"], "$filter": ["location eq 'eastus'"]}, "Bearer secret")
    assert second[1:] == ({"page": ["2"]}, "Bearer secret")


def usage(name, current, limit):
    return {"unit": "Count", "currentValue": current, "limit": limit, "name": {"value": name, "localizedValue": name}}


def test_usages_are_found_whatever_the_spelling_of_a_family(azure, account):
    azure.says(
        USAGES,
        {
            "value": [
                usage("cores", 10, 100),
                usage("lowPriorityCores", 6, 24),
                usage("StandardNCFamily", 12, 24),
                usage("Standard NDASv4_A100 Family", 0, 96),
            ]
        },
    )
    assert account.usage("standardNCFamily", "on-demand") == Usage(24, 12)
    assert account.usage("standardNDASv4_A100Family", "on-demand") == Usage(96, 0)
    assert account.usage("all", "on-demand") == Usage(100, 10)
    assert account.usage("all", "spot") == Usage(24, 6)
    assert account.usage("standardNVFamily", "on-demand") is None
    assert len(azure.asked) == 1


def batch_account(**properties):
    return {"value": [{"id": TRAIN, "name": "train", "properties": properties}]}


def batch_pool(name, size, dedicated=0, low=0):
    return {
        "name": name,
        "properties": {"vmSize": size, "currentDedicatedNodes": dedicated, "currentLowPriorityNodes": low},
    }


def test_a_batch_account_has_quotas_of_its_own(azure, account):
    families = [{"name": "StandardNCFamily", "coreQuota": 24}]
    azure.says(
        ACCOUNTS,
        batch_account(
            poolAllocationMode="BatchService",
            dedicatedCoreQuota=100,
            lowPriorityCoreQuota=12,
            dedicatedCoreQuotaPerVMFamilyEnforced=True,
            dedicatedCoreQuotaPerVMFamily=families,
        ),
    )
    pools = [batch_pool("theirs", "STANDARD_NC6", 2, 1), batch_pool("mine4f2a", "standard_nc6", 9)]
    azure.says(f"{TRAIN}/pools", {"value": pools})
    used = {
        ("standardncfamily", "on-demand"): 12,
        ("all", "on-demand"): 12,
        ("standardncfamily", "spot"): 6,
        ("all", "spot"): 6,
    }
    assert account.batch("Train") == Batch(True, 100, 12, {"standardncfamily": 24}, used)
    assert account.batch("other") is None


def test_families_that_are_not_limited_apart(azure, account):
    azure.says(ACCOUNTS, batch_account(dedicatedCoreQuota=100, dedicatedCoreQuotaPerVMFamilyEnforced=False))
    azure.says(f"{TRAIN}/pools", {"value": []})
    assert account.batch("train") == Batch(True, 100, None, None, {})


def test_an_account_that_allocates_in_the_subscription_has_no_quota(azure, account):
    azure.says(ACCOUNTS, batch_account(poolAllocationMode="UserSubscription"))
    assert account.batch("train") == Batch(False, None, None, None, {})


def test_sizes_that_the_catalog_does_not_know_come_from_the_subscription(azure, account):
    azure.says(ACCOUNTS, batch_account(dedicatedCoreQuota=100))
    azure.says(f"{TRAIN}/pools", {"value": [batch_pool("theirs", "standard_d4s_v5", 3)]})
    capabilities = [{"name": "vCPUs", "value": "4"}]
    azure.says(SKUS, {"value": [sku("Standard_D4s_v5", family="standardDSv5Family", capabilities=capabilities)]})
    assert account.batch("train").used == {("standarddsv5family", "on-demand"): 12, ("all", "on-demand"): 12}


def test_a_size_of_unknown_cores_is_not_counted_as_nothing(azure, account):
    azure.says(ACCOUNTS, batch_account(dedicatedCoreQuota=100))
    azure.says(f"{TRAIN}/pools", {"value": [batch_pool("theirs", "standard_x1", 3)]})
    azure.says(SKUS, {"value": []})
    with pytest.raises(ArmError, match=r"^standard_x1: cores of this size are not known"):
        account.batch("train")


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
        (200, b"<html>", "Microsoft.Compute/locations/usages/read: Azure's answer is no JSON"),
        (200, [], "Microsoft.Compute/locations/usages/read: Azure's answer is no object"),
    ],
)
def test_a_failure_is_one_line_and_is_not_tried_again(azure, account, waits, status, body, line):
    azure.says(USAGES, (status, {}, body))
    with pytest.raises(ArmError) as error:
        account.usage("all", "spot")
    assert str(error.value) == line
    assert (len(azure.asked), waits) == (1, [])


@pytest.mark.parametrize(("headers", "wait"), [({"Retry-After": "7"}, 7), ({}, 1), ({"Retry-After": "Fri, 31"}, 1)])
@pytest.mark.parametrize("status", [429, 503])
def test_azure_is_given_the_time_that_it_asks_for(azure, account, waits, status, headers, wait):
    azure.says(USAGES, (status, headers, {}), {"value": [usage("lowPriorityCores", 0, 24)]})
    assert account.usage("all", "spot") == Usage(24, 0)
    assert waits == [wait]


def test_throttled_for_good_is_one_line(azure, account, waits):
    azure.says(USAGES, (429, {"Retry-After": "2"}, {}))
    with pytest.raises(ArmError) as error:
        account.usage("all", "spot")
    assert str(error.value) == (
        "Microsoft.Compute/locations/usages/read: Azure answers too many requests; try again later"
    )
    assert (len(azure.asked), waits) == (3, [2, 2])


def test_nobody_waits_for_minutes(azure, account, waits):
    azure.says(USAGES, (429, {"Retry-After": "300"}, {}))
    with pytest.raises(ArmError, match="too many requests"):
        account.usage("all", "spot")
    assert (len(azure.asked), waits) == (1, [])


def test_the_token_goes_nowhere_else(azure, account):
    azure.says(USAGES, {"value": [], "nextLink": "https://elsewhere.example/usages"})
    with pytest.raises(ArmError, match="continues its answer at another place: https://elsewhere"):
        account.usage("all", "spot")


def test_nobody_at_home_is_one_line(azure, arm):
    azure.server.shutdown()
    azure.server.server_close()
    with pytest.raises(ArmError, match=r"^Microsoft.Compute/locations/usages/read: Azure does not answer: .*refused"):
        AzureAccount("eastus", arm).usage("all", "spot")


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
