"""Cases of gpufleet.rules.aws.onprem_servers."""

from gpufleet.rules.aws.onprem_servers import (
    files_everywhere,
    nodeadm_pinned,
    own_cluster_joined,
    pods_reached,
    pool_once,
    validate_onprem_servers,
)

CASES = {
    own_cluster_joined: [
        ("own", {"existing": ""}, "pass", ""),
        (
            "existing",
            {"existing": "shared"},
            "fail",
            "trainers: own_servers=given: cannot join shared, whose remote networks are its owner's; leave "
            "existing_cluster out, or let its owner join the servers to it [aws-own-servers-cluster]",
        ),
    ],
    files_everywhere: [
        ("none", {"files": ()}, "pass", ""),
        (
            "some",
            {"files": ("uid", "throughput")},
            "fail",
            "trainers: files=[uid, throughput]: shapes an EFS, which pods on own servers cannot mount, and none is "
            "made; leave it out: own_servers.nfs holds the files of every job [aws-own-servers-files]",
        ),
    ],
    nodeadm_pinned: [
        ("pinned", {"version": "v1.0.9", "sha256": "a" * 64}, "pass", ""),
        (
            "latest",
            {"version": "latest", "sha256": "a" * 64},
            "fail",
            "trainers: own_servers.nodeadm.version=latest: is not a nodeadm release; write it like v1.0.19 "
            "[aws-own-servers-nodeadm]",
        ),
        (
            "short",
            {"version": "v1.0.9", "sha256": "abc"},
            "fail",
            "trainers: own_servers.nodeadm.sha256=abc: is not a SHA-256 checksum; give the 64 hex digits of "
            "nodeadm.sha256 beside "
            "the file [aws-own-servers-nodeadm]",
        ),
    ],
    pods_reached: [
        ("by BGP", {"pods": ("10.81.0.0/16",), "bgp": True, "static_routes": False}, "pass", ""),
        ("by static routes", {"pods": ("10.81.0.0/16",), "bgp": False, "static_routes": True}, "pass", ""),
        (
            "no range",
            {"pods": (), "bgp": True, "static_routes": False},
            "fail",
            "trainers: own_servers.networks.pods=[]: the cluster then reaches no pod on own servers; give a private "
            "range, such as 10.81.0.0/16, which is an address of nothing else [aws-own-servers-pods]",
        ),
        (
            "no route",
            {"pods": ("10.81.0.0/16",), "bgp": False, "static_routes": False},
            "fail",
            "trainers: own_servers.cilium.bgp=not given: the site's router does not learn which server has which pods; "
            "give the BGP numbers of servers and router and its address, or static_routes: true "
            "[aws-own-servers-pods]",
        ),
        (
            "both",
            {"pods": ("10.81.0.0/16",), "bgp": True, "static_routes": True},
            "fail",
            "trainers: own_servers.cilium.static_routes=true: the site's router learns the routes to pods by BGP "
            "already; leave out static_routes, or bgp [aws-own-servers-pods]",
        ),
    ],
    pool_once: [
        ("once", {"pool": "v100", "elsewhere": ("rented",)}, "pass", ""),
        (
            "twice",
            {"pool": "rented", "elsewhere": ("rented",)},
            "fail",
            "trainers: own_servers.pools=rented: is a name of gpufleet:pools too; give one of them another name "
            "[any-pool-name-once]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_the_door_says_all_faults_at_once():
    pools = {"v100": ["gpu-1"], "titan": ["gpu-1"]}
    found = validate_onprem_servers(pools, ["v100"], "shared", ["uid"], {"version": "latest", "sha256": ""}, [], {})
    assert [each.rule for each in found if each.rejects] == [
        "aws-own-servers-cluster",
        "aws-own-servers-files",
        "any-pool-name-once",
        "any-node-pool",
        "aws-own-servers-pods",
        "aws-own-servers-nodeadm",
    ]
    pinned = {"version": "v1.0.9", "sha256": "a" * 64}
    pods = ["10.81.0.0/16"]
    found = validate_onprem_servers({"v100": ["gpu-1"]}, ["rented"], "", [], pinned, pods, {"bgp": {}})
    assert not [each for each in found if each.rejects]
