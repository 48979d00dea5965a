"""Cases of gpufleet.rules.aws.zones."""

from gpufleet.rules.aws.zones import region_known, region_of_provider, zone_known

CASES = {
    region_known: [
        ("known", {"region": "us-east-1", "known": ("us-east-1", "us-west-2")}, "pass", ""),
        (
            "misspelt",
            {"region": "us-east1", "known": ("us-east-1", "us-west-2")},
            "fail",
            "trainers: region=us-east1: is not a region code; did you mean us-east-1? [aws-region-known]",
        ),
        (
            "zone",
            {"region": "us-east-1a", "known": ("us-east-1", "us-west-2")},
            "fail",
            "trainers: region=us-east-1a: is not a region code; did you mean us-east-1? [aws-region-known]",
        ),
        (
            "empty",
            {"region": "", "known": ("us-east-1",)},
            "fail",
            "trainers: region='': is not a region code; use a region code such as us-east-1 [aws-region-known]",
        ),
        (
            "new",
            {"region": "xx-north-9", "known": ("us-east-1",)},
            "unverified",
            (
                "trainers: region=xx-north-9: not verified: the catalog has no facts about this region; make sure "
                "that it exists and offers the instance types [aws-region-known]"
            ),
        ),
    ],
    region_of_provider: [
        ("same", {"region": "us-east-1", "provider": "us-east-1"}, "pass", ""),
        ("provider not known", {"region": "us-east-1", "provider": None}, "pass", ""),
        (
            "another",
            {"region": "us-east-1", "provider": "eu-west-1"},
            "fail",
            "trainers: region=us-east-1: is not the region of the provider, eu-west-1; leave region out, or set "
            "aws:region to us-east-1 [aws-region-of-provider]",
        ),
        (
            "none",
            {"region": None, "provider": None},
            "fail",
            "trainers: region=null: is missing, and the region of the provider is not known; set aws:region, or write "
            "region where the program creates its own provider [aws-region-of-provider]",
        ),
    ],
    zone_known: [
        (
            "id",
            {
                "argument": "zones",
                "zone": "use1-az1",
                "region": "us-east-1",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "pass",
            "",
        ),
        (
            "name",
            {
                "argument": "zones",
                "zone": "us-east-1a",
                "region": "us-east-1",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "fail",
            (
                "trainers: zones=us-east-1a: is a zone name, which means another zone in another account; use "
                "use1-az1 or use1-az2 [aws-zone-known]"
            ),
        ),
        (
            "of-another-region",
            {
                "argument": "zones",
                "zone": "usw2-az1",
                "region": "us-east-1",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "fail",
            (
                "trainers: zones=usw2-az1: is a zone of us-west-2, not of us-east-1; use use1-az1 or use1-az2 "
                "[aws-zone-known]"
            ),
        ),
        (
            "misspelt",
            {
                "argument": "zones",
                "zone": "use1-az9",
                "region": "us-east-1",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "fail",
            "trainers: zones=use1-az9: is not a zone of us-east-1; use use1-az1 or use1-az2 [aws-zone-known]",
        ),
        (
            "far-off",
            {
                "argument": "zones",
                "zone": "?",
                "region": "us-east-1",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "fail",
            "trainers: zones=?: is not a zone of us-east-1; use use1-az1 or use1-az2 [aws-zone-known]",
        ),
        (
            "unknown-region",
            {
                "argument": "zones",
                "zone": "xxn9-az1",
                "region": "xx-north-9",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "unverified",
            (
                "trainers: zones=xxn9-az1: not verified: the catalog has no zones of xx-north-9; use a zone id "
                "such as use1-az1 [aws-zone-known]"
            ),
        ),
        (
            "name-in-unknown-region",
            {
                "argument": "zones",
                "zone": "xx-north-9a",
                "region": "xx-north-9",
                "regions": {"us-east-1": ("use1-az1", "use1-az2"), "us-west-2": ("usw2-az1",)},
            },
            "fail",
            (
                "trainers: zones=xx-north-9a: is a zone name, which means another zone in another account; use a "
                "zone id such as use1-az1 [aws-zone-known]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
