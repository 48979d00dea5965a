"""Cases of gpufleet.rules.aws.site_link."""

from gpufleet.rules.aws.site_link import direct_connect_gateway, few_prefixes, gateway_asn

CASES = {
    gateway_asn: [
        ("first", {"asn": 64512}, "pass", ""),
        ("last", {"asn": 65534}, "pass", ""),
        ("large", {"asn": 4200000000}, "pass", ""),
        (
            "below",
            {"asn": 64511},
            "fail",
            (
                "trainers: gateway_asn=64511: is not a private BGP ASN; use 64512 to 65534 or 4200000000"
                " to 4294967294, or leave it out for 64512 [aws-link-gateway-asn]"
            ),
        ),
        (
            "above",
            {"asn": 65535},
            "fail",
            (
                "trainers: gateway_asn=65535: is not a private BGP ASN; use 64512 to 65534 or 4200000000"
                " to 4294967294, or leave it out for 64512 [aws-link-gateway-asn]"
            ),
        ),
        (
            "largest",
            {"asn": 4294967295},
            "fail",
            (
                "trainers: gateway_asn=4294967295: is not a private BGP ASN; use 64512 to 65534 or "
                "4200000000 to 4294967294, or leave it out for 64512 [aws-link-gateway-asn]"
            ),
        ),
    ],
    direct_connect_gateway: [
        ("id", {"id_": "1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4"}, "pass", ""),
        (
            "connection",
            {"id_": "dxcon-ffabc123"},
            "fail",
            (
                "trainers: direct_connect_gateway_id=dxcon-ffabc123: is not the id of a Direct Connect gateway; use "
                "one "
                "such as 1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4: aws directconnect describe-direct-connect-gateways "
                "[aws-link-direct-connect-gateway]"
            ),
        ),
    ],
    few_prefixes: [
        ("most", {"count": 20}, "pass", ""),
        (
            "more",
            {"count": 21},
            "fail",
            "trainers: announced_cidrs=21: are more than 20 ranges; announce wider ones [aws-link-prefixes]",
        ),
    ],
}


def test_case(case):
    case.check()
