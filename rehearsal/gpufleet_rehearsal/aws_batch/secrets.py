"""AWS Secrets Manager in one account and region, for the calls that `gpufleet` makes. Values are not kept.

What is kept of a secret is its name, its ARN and its tags: no container runs that could read a value. Sources: the
model of secretsmanager in botocore; an ARN ends with a hyphen and six characters of Secrets Manager's own:
docs.aws.amazon.com/secretsmanager/latest/userguide/reference_iam-permissions.html. The words of rejections are assumed.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from gpufleet_rehearsal.aws_batch.rejection import AwsRejection

Data = dict[str, Any]


@dataclass
class PlayedSecrets:
    """arn: the beginning of ARNs, arn:aws:secretsmanager:REGION:ACCOUNT:secret. secrets: by name."""

    arn: str
    secrets: dict[str, Data] = field(default_factory=dict)

    def create_secret(self, **asked: Any) -> Data:  # noqa: ANN401
        """CreateSecret."""
        name = str(asked["Name"])
        if name in self.secrets:
            words = f"The operation failed because the secret {name} already exists."
            raise AwsRejection("ResourceExistsException", words)
        suffix = hashlib.sha256(name.encode()).hexdigest()[:6]
        self.secrets[name] = {"Name": name, "ARN": f"{self.arn}:{name}-{suffix}", "Tags": asked.get("Tags") or []}
        return self._described(self.secrets[name])

    def put_secret_value(self, **asked: Any) -> Data:  # noqa: ANN401
        """PutSecretValue."""
        return self._described(self._find(str(asked["SecretId"])))

    def describe_secret(self, SecretId: str) -> Data:
        """DescribeSecret, by name or ARN."""
        return dict(self._find(SecretId))

    def _find(self, wanted: str) -> Data:
        found = [each for each in self.secrets.values() if wanted in (each["Name"], each["ARN"])]
        if not found:
            raise AwsRejection("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
        return found[0]

    @staticmethod
    def _described(secret: Data) -> Data:
        return {"ARN": secret["ARN"], "Name": secret["Name"], "VersionId": "0" * 32}
