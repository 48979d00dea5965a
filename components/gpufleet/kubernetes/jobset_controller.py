"""JobSetController: what makes the pods of a JobSet, which jobs of torchrun are."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.jobset_controller import validate_jobset_controller

VERSION = "0.12.0"
"""The version that the tests run. Source: github.com/kubernetes-sigs/jobset, tag v0.12.0."""
CHART = "oci://registry.k8s.io/jobset/charts/jobset"
IMAGE = "registry.k8s.io/jobset/jobset"
"""The image's repository in the published chart. Source: kubernetes-sigs/jobset v0.12.0, hack/helm-chart-package.sh,
which also sets the tag; values.yaml of the sources has others."""
NAMESPACE = "jobset-system"
"""The one that JobSet's documents name. Source: kubernetes-sigs/jobset v0.12.0, site/content/en/docs/installation."""


class JobSetConfig(TypedDict):
    """Which JobSet, from where."""

    version: NotRequired[str]
    """Version of JobSet's chart. Default 0.12.0."""
    image: NotRequired[str]
    """Repository of the image, for a closed network; its tag is the chart's. Default registry.k8s.io/jobset/jobset."""


class JobSetControllerArgs(JobSetConfig):
    """The same, and where it runs."""

    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that the controller runs on: the API server has to reach its webhook there. Default: any."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the chart's objects, its pod included, so that a change restarts the controller."""


def plan_values(args: JobSetControllerArgs) -> dict[str, Any]:
    """The values of the chart. `args` has passed the rules.

    All else is as the chart has it: one controller without root, which tolerates no taint, and makes the certificate of
    its webhooks itself.
    Source: kubernetes-sigs/jobset v0.12.0, charts/jobset: values.yaml, templates/controller/deployment.yaml.
    """
    values: dict[str, Any] = {}
    if "image" in args:
        values["image"] = {"repository": args["image"]}
    if args.get("node_selector"):
        values["controller"] = {"nodeSelector": dict(args["node_selector"])}
    if args.get("labels"):
        values["commonLabels"] = dict(args["labels"])
    return values


class JobSetController(Component):
    """JobSet's definition, controller and webhooks, by its Helm chart: for jobs with `launcher: torchrun`.

    With Kueue, it comes before: a Kueue that runs already looks for JobSets again, at most two minutes apart
    (kubernetes-sigs/kueue v0.19.2, pkg/controller/jobframework/setup.go). Helm installs the definition once, and
    neither changes it with a new version nor deletes it (helm.sh/docs/chart_best_practices/
    custom_resource_definitions).
    """

    api_version: pulumi.Output[str]
    """jobset.x-k8s.io/v1alpha2, for those who need the controller to be there."""

    def __init__(
        self,
        name: str,
        args: JobSetControllerArgs = KEYWORDS,
        opts: Opts = None,
        **keywords: Unpack[JobSetControllerArgs],
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: JobSetControllerArgs) -> list[Finding]:
        return validate_jobset_controller(args)

    def create(self, name: str, args: JobSetControllerArgs) -> None:
        version = args.get("version", VERSION)
        release = chart_release(f"{name}-release", CHART, version, NAMESPACE, plan_values(args), self.child())
        self.api_version = with_dependencies(pulumi.Output.from_input("jobset.x-k8s.io/v1alpha2"), release)
