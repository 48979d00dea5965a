"""EKS's registries: one in each region, whose nodes reach it without a way to the internet."""

from gpufleet.catalog import aws
from gpufleet.catalog.eks_registries import eks_registries


def test_each_lies_in_its_region():
    for region, record in eks_registries().items():
        account, *rest = record.registry.split(".")
        assert (len(account), account.isdecimal(), rest[:3]) == (12, True, ["dkr", "ecr", region])
        end = {"cn": "amazonaws.com.cn", "eusc": "amazonaws.eu"}.get(region.partition("-")[0], "amazonaws.com")
        assert ".".join(rest[3:]) == end


def test_the_catalogs_regions_have_one():
    assert set(aws().regions) - set(eks_registries()) <= {"ap-east-2"}
