"""What a stack says of pools that do not reach its shared files, and what it tells its jobs."""

import files_reach

POOLS = {"v100": {"place": "onprem"}, "rented": {"types": ["g5.12xlarge"]}}


def test_pools_that_do_not_reach_the_files_are_named_and_marked():
    found = files_reach.judge("hybrid", POOLS, "onprem", link=False)
    assert [each.line for each in found if each.finding.status != "pass"] == [
        "hybrid: place=cloud: nothing leads from there to the shared files, which are at onprem: jobs with these files "
        "are refused; give gpufleet:link, or own_servers.line: true where there is one, or submit such jobs with "
        "--place onprem [any-pool-reaches-files]"
    ]
    assert files_reach.marked(POOLS, "onprem", link=False) == {
        "v100": {"place": "onprem"},
        "rented": {"types": ["g5.12xlarge"], "reaches_files": False},
    }


def test_with_a_line_every_pool_reaches_them():
    assert not [
        each for each in files_reach.judge("hybrid", POOLS, "onprem", link=True) if each.finding.status != "pass"
    ]
    assert files_reach.marked(POOLS, "onprem", link=True) == POOLS
