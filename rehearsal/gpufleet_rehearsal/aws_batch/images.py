"""Images of the simulated cloud's repositories of ECR: what was named last, and by which digest.

No image is kept: a played build (gpufleet.images.build) puts a manifest that names it. Sources: botocore's model of ecr
(names of errors; their words are assumed); github.com/opencontainers/distribution-spec (a manifest's digest is that of
its bytes); docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html.
"""

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any

from gpufleet.images.ecr import immutable
from gpufleet_rehearsal.aws_batch.rejection import AwsRejection
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store

Data = dict[str, Any]
REPOSITORY = "aws:ecr/repository:Repository"


@dataclass(frozen=True)
class PlayedImages:
    """The repositories of one region."""

    store: Store
    region: str

    def put_image(self, repositoryName: str, imageManifest: str, **asked: Any) -> Data:  # noqa: ANN401
        """PutImage, with a tag."""
        repository, tag = self._repository(repositoryName, asked), asked.get("imageTag")
        if tag is None:
            raise AwsRejection("NotImplemented", "a rehearsal does not play images without a tag", 501)
        digest = f"sha256:{hashlib.sha256(imageManifest.encode()).hexdigest()}"
        known = self._images(repository)
        has = known.get(tag, {}).get("imageDigest")
        if has == digest:
            raise AwsRejection(
                "ImageAlreadyExistsException", f"Image with tag {tag} and digest {digest} exists already"
            )
        if has and immutable(repository.view, tag):
            raise AwsRejection("ImageTagAlreadyExistsException", f"The image tag {tag} exists already and is immutable")
        image = {"imageDigest": digest, "imagePushedAt": time.time()}
        # A tag names one image: the newer one.
        self.store.put_file(repository, tag, json.dumps(image).encode())
        whose = {"registryId": repository.view["registryId"], "repositoryName": repositoryName}
        return {"image": whose | {"imageId": {"imageDigest": digest, "imageTag": tag}}}

    def describe_images(self, repositoryName: str, **asked: Any) -> Data:  # noqa: ANN401
        """DescribeImages; all have a tag."""
        repository = self._repository(repositoryName, asked)
        wanted = {each.get("imageTag") for each in asked.get("imageIds") or []}
        known = self._images(repository)
        if wanted - set(known):
            raise AwsRejection("ImageNotFoundException", f"The repository {repositoryName} has no such image")
        if (asked.get("filter") or {}).get("tagStatus") == "UNTAGGED":
            known = {}
        whose = {"registryId": repository.view["registryId"], "repositoryName": repositoryName}
        found = [(tag, image) for tag, image in known.items() if not wanted or tag in wanted]
        return {"imageDetails": [whose | image | {"imageTags": [tag]} for tag, image in found]}

    def _repository(self, name: str, asked: Data) -> SimulatedResource:
        for each in self.store.resources(REPOSITORY):
            view = each.view
            whose = view["registryId"] == asked.get("registryId", view["registryId"])
            if whose and (view["name"], view["region"]) == (name, self.region):
                return each
        words = f"The repository with name '{name}' does not exist in the registry"
        raise AwsRejection("RepositoryNotFoundException", words)

    def _images(self, repository: SimulatedResource) -> dict[str, Data]:
        return {tag: json.loads(image) for tag, image in self.store.files(repository).items()}
