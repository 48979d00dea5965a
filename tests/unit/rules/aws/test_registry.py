"""Cases of gpufleet.rules.aws.registry."""

from gpufleet.rules.aws.registry import (
    any_rule_last,
    cache_filled,
    login_given,
    mutable_tags,
    name_legal,
    secret_named,
    tags_stay,
    upstream_known,
)

CASES = {
    any_rule_last: [
        ("last", {"priority": 3, "last": 3}, "pass", ""),
        (
            "followed",
            {"priority": 1, "last": 3},
            "fail",
            "trainers: rulePriority=1: is for images of any tag, and a rule of priority 3 follows it; give it a "
            "priority above 3 [aws-registry-any-rule-last]",
        ),
    ],
    cache_filled: [
        ("may", {"role": "nodes", "prefix": "quay", "creates": True}, "pass", ""),
        (
            "may-not",
            {"role": "nodes", "prefix": "quay", "creates": False},
            "fail",
            "trainers: node_role_arn=nodes: nodes cannot pull what the cache quay does not hold yet: it may not make "
            "its repository; allow it ecr:CreateRepository and ecr:BatchImportUpstreamImage on repository/quay/* "
            "[aws-registry-cache-filled]",
        ),
    ],
    name_legal: [
        ("nested", {"argument": "repositories", "name": "training/llm", "longest": 256}, "pass", ""),
        ("longest", {"argument": "pull_through", "name": "pppppppppppppppppppppppppppppp", "longest": 30}, "pass", ""),
        (
            "too-long",
            {"argument": "pull_through", "name": "ppppppppppppppppppppppppppppppp", "longest": 30},
            "fail",
            (
                "trainers: pull_through=ppppppppppppppppppppppppppppppp: is not a valid ECR name; use 2 to 30 "
                "lower-case letters and digits in parts joined by . _ - or /, such as training/llm "
                "[aws-registry-name]"
            ),
        ),
        (
            "too-short",
            {"argument": "repositories", "name": "a", "longest": 256},
            "fail",
            (
                "trainers: repositories=a: is not a valid ECR name; use 2 to 256 lower-case letters and digits "
                "in parts joined by . _ - or /, such as training/llm [aws-registry-name]"
            ),
        ),
        (
            "capital",
            {"argument": "repositories", "name": "LLM", "longest": 256},
            "fail",
            (
                "trainers: repositories=LLM: is not a valid ECR name; use 2 to 256 lower-case letters and digits "
                "in parts joined by . _ - or /, such as training/llm [aws-registry-name]"
            ),
        ),
        (
            "slash-first",
            {"argument": "repositories", "name": "/llm", "longest": 256},
            "fail",
            (
                "trainers: repositories=/llm: is not a valid ECR name; use 2 to 256 lower-case letters and "
                "digits in parts joined by . _ - or /, such as training/llm [aws-registry-name]"
            ),
        ),
    ],
    upstream_known: [
        ("open", {"prefix": "quay", "upstream": "quay.io"}, "pass", ""),
        ("login", {"prefix": "gh", "upstream": "ghcr.io"}, "pass", ""),
        ("azure", {"prefix": "az", "upstream": "team.azurecr.io"}, "pass", ""),
        ("ecr", {"prefix": "other", "upstream": "123456789012.dkr.ecr.us-east-1.amazonaws.com"}, "pass", ""),
        (
            "nvidia",
            {"prefix": "ngc", "upstream": "nvcr.io"},
            "fail",
            (
                "trainers: pull_through.ngc=nvcr.io: ECR has no pull-through cache for NVIDIA's registry; copy its "
                "images into your own repository, for instance in CI [aws-registry-upstream]"
            ),
        ),
        (
            "nvidia-path",
            {"prefix": "ngc", "upstream": "https://nvcr.io/nvidia"},
            "fail",
            (
                "trainers: pull_through.ngc=https://nvcr.io/nvidia: ECR has no pull-through cache for NVIDIA's "
                "registry; copy its images into your own repository, for instance in CI "
                "[aws-registry-upstream]"
            ),
        ),
        (
            "docker-hub-site",
            {"prefix": "hub", "upstream": "docker.io"},
            "fail",
            (
                "trainers: pull_through.hub=docker.io: is not the host of Docker Hub's registry; use "
                "registry-1.docker.io [aws-registry-upstream]"
            ),
        ),
        (
            "misspelt",
            {"prefix": "k8s", "upstream": "registry.k8s.oi"},
            "fail",
            (
                "trainers: pull_through.k8s=registry.k8s.oi: is not a registry that ECR can cache; did you mean "
                "registry.k8s.io? use public.ecr.aws, quay.io, registry.k8s.io, registry-1.docker.io, ghcr.io, "
                "registry.gitlab.com, cgr.dev or <name>.azurecr.io [aws-registry-upstream]"
            ),
        ),
        (
            "unknown",
            {"prefix": "x", "upstream": "example.org"},
            "fail",
            (
                "trainers: pull_through.x=example.org: is not a registry that ECR can cache; use public.ecr.aws, "
                "quay.io, registry.k8s.io, registry-1.docker.io, ghcr.io, registry.gitlab.com, cgr.dev or "
                "<name>.azurecr.io [aws-registry-upstream]"
            ),
        ),
    ],
    login_given: [
        ("open", {"prefix": "quay", "upstream": "quay.io", "given": False}, "pass", ""),
        ("given", {"prefix": "gh", "upstream": "ghcr.io", "given": True}, "pass", ""),
        (
            "missing",
            {"prefix": "gh", "upstream": "ghcr.io", "given": False},
            "fail",
            (
                "trainers: credentials.gh=null: ghcr.io requires a login; give the ARN of a Secrets Manager secret "
                "whose name begins with ecr-pullthroughcache/ [aws-registry-login]"
            ),
        ),
        (
            "azure-missing",
            {"prefix": "az", "upstream": "team.azurecr.io", "given": False},
            "fail",
            (
                "trainers: credentials.az=null: team.azurecr.io requires a login; give the ARN of a Secrets Manager "
                "secret whose name begins with ecr-pullthroughcache/ [aws-registry-login]"
            ),
        ),
        (
            "needless",
            {"prefix": "quay", "upstream": "quay.io", "given": True},
            "fail",
            "trainers: credentials.quay=(a secret): quay.io needs no login; leave it out [aws-registry-login]",
        ),
        (
            "stray",
            {"prefix": "gh", "upstream": "", "given": True},
            "fail",
            ("trainers: credentials.gh=(a secret): pull_through has no such prefix; leave it out [aws-registry-login]"),
        ),
    ],
    secret_named: [
        (
            "named",
            {
                "prefix": "gh",
                "arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/ghcr-AbCdEf",
            },
            "pass",
            "",
        ),
        (
            "other-name",
            {"prefix": "gh", "arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:ghcr-AbCdEf"},
            "fail",
            (
                "trainers: credentials.gh=arn:aws:secretsmanager:us-east-1:123456789012:secret:ghcr-AbCdEf: is not "
                "a secret that ECR accepts; give the ARN of a Secrets Manager secret whose name begins with "
                "ecr-pullthroughcache/ [aws-registry-secret]"
            ),
        ),
    ],
    mutable_tags: [
        ("none", {"filters": ()}, "pass", ""),
        ("five", {"filters": ("a", "b", "c", "d", "dev*")}, "pass", ""),
        (
            "six",
            {"filters": ("a", "b", "c", "d", "e", "f")},
            "fail",
            (
                "trainers: mutable_tags=[a, b, c, d, e, f]: is more than five patterns; use at most five; * is a "
                "wildcard [aws-registry-mutable-tags]"
            ),
        ),
        (
            "character",
            {"filters": ("dev*", "dev+")},
            "fail",
            (
                "trainers: mutable_tags=[dev+]: is not a valid tag pattern; use letters, digits and . _ -, with * as "
                "wildcard [aws-registry-mutable-tags]"
            ),
        ),
        (
            "too-long",
            {"filters": ("t" * 129,)},
            "fail",
            (
                "trainers: mutable_tags=["
                + "t" * 129
                + (
                    "]: is not a valid tag pattern; use letters, digits and . _ -, with * as wildcard "
                    "[aws-registry-mutable-tags]"
                )
            ),
        ),
    ],
    tags_stay: [
        ("narrow", {"filters": ("dev*",)}, "pass", ""),
        ("none", {"filters": ()}, "pass", ""),
        (
            "all",
            {"filters": ("dev*", "*")},
            "fail",
            (
                "trainers: mutable_tags=[dev*, *]: lets every tag be overwritten; use a narrower pattern, such as "
                "dev* [aws-registry-tags-stay]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
