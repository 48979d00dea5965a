"""Cases of gpufleet.rules.azure.names."""

from gpufleet.rules.azure.names import account_name, agent_pool_name, registry_name

CASES = {
    account_name: [
        ("3", {"name": "abc", "what": "storage"}, "pass", ""),
        (
            "2",
            {"name": "ab", "what": "storage"},
            "fail",
            (
                "trainers: account_name=ab: is not a valid storage account name; use 3 to 24 lower-case letters and "
                "digits, without hyphens [azure-account-name]"
            ),
        ),
        ("24", {"name": "aaaaaaaaaaaaaaaaaaaaaaaa", "what": "Batch"}, "pass", ""),
        (
            "25",
            {"name": "aaaaaaaaaaaaaaaaaaaaaaaaa", "what": "Batch"},
            "fail",
            (
                "trainers: account_name=aaaaaaaaaaaaaaaaaaaaaaaaa: is not a valid Batch account name; use 3 to 24 "
                "lower-case letters and digits, without hyphens [azure-account-name]"
            ),
        ),
        (
            "hyphen",
            {"name": "train-data", "what": "storage"},
            "fail",
            (
                "trainers: account_name=train-data: is not a valid storage account name; use 3 to 24 lower-case "
                "letters and digits, without hyphens [azure-account-name]"
            ),
        ),
        (
            "capital",
            {"name": "trainData", "what": "storage"},
            "fail",
            (
                "trainers: account_name=trainData: is not a valid storage account name; use 3 to 24 lower-case letters "
                "and digits, without hyphens [azure-account-name]"
            ),
        ),
    ],
    registry_name: [
        ("5", {"name": "Train"}, "pass", ""),
        (
            "4",
            {"name": "trai"},
            "fail",
            (
                "trainers: registry_name=trai: is not a valid registry name; use 5 to 50 letters and digits, without "
                "hyphens [azure-registry-name]"
            ),
        ),
        ("50", {"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "pass", ""),
        (
            "51",
            {"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
            "fail",
            (
                "trainers: registry_name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: is not a valid "
                "registry name; use 5 to 50 letters and digits, without hyphens [azure-registry-name]"
            ),
        ),
        (
            "hyphen",
            {"name": "train-images"},
            "fail",
            (
                "trainers: registry_name=train-images: is not a valid registry name; use 5 to 50 letters and digits, "
                "without hyphens [azure-registry-name]"
            ),
        ),
    ],
    agent_pool_name: [
        ("12", {"name": "aaaaaaaaaaaa", "system": "Linux"}, "pass", ""),
        (
            "13",
            {"name": "aaaaaaaaaaaaa", "system": "Linux"},
            "fail",
            (
                "trainers: agent_pool_name=aaaaaaaaaaaaa: is not a valid AKS agent pool name; use 1 to 12 lower-case "
                "letters and digits, a letter first [azure-agent-pool-name]"
            ),
        ),
        ("windows-6", {"name": "gpuwin", "system": "Windows"}, "pass", ""),
        (
            "windows-7",
            {"name": "gpuwin1", "system": "Windows"},
            "fail",
            (
                "trainers: agent_pool_name=gpuwin1: is not a valid AKS agent pool name; use 1 to 6 lower-case letters "
                "and digits, a letter first [azure-agent-pool-name]"
            ),
        ),
        (
            "hyphen",
            {"name": "gpu-pool", "system": "Linux"},
            "fail",
            (
                "trainers: agent_pool_name=gpu-pool: is not a valid AKS agent pool name; use 1 to 12 lower-case "
                "letters and digits, a letter first [azure-agent-pool-name]"
            ),
        ),
        (
            "capital",
            {"name": "Gpu", "system": "Linux"},
            "fail",
            (
                "trainers: agent_pool_name=Gpu: is not a valid AKS agent pool name; use 1 to 12 lower-case letters "
                "and digits, a letter first [azure-agent-pool-name]"
            ),
        ),
        (
            "digit-first",
            {"name": "1gpu", "system": "Linux"},
            "fail",
            (
                "trainers: agent_pool_name=1gpu: is not a valid AKS agent pool name; use 1 to 12 lower-case letters "
                "and digits, a letter first [azure-agent-pool-name]"
            ),
        ),
        (
            "empty",
            {"name": "", "system": "Linux"},
            "fail",
            (
                "trainers: agent_pool_name='': is not a valid AKS agent pool name; use 1 to 12 lower-case letters and "
                "digits, a letter first [azure-agent-pool-name]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
