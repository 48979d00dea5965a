"""The result of a run, where `gpufleet jobs outputs get` finds it."""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ranks import TrainingError


def publish(place: str, result: Mapping[str, float]) -> None:
    """Write ``result`` as result.json below ``place``: a folder, or s3://BUCKET/PREFIX, which needs boto3.

    Raises:
        TrainingError: it cannot be written.
    """
    text = json.dumps(result)
    target = f"{place.rstrip('/')}/result.json"
    try:
        if place.startswith("s3://"):
            import boto3

            url = urlsplit(target)
            boto3.client("s3").put_object(Bucket=url.netloc, Key=url.path.lstrip("/"), Body=text.encode())
        else:
            Path(place).mkdir(parents=True, exist_ok=True)
            Path(target).write_text(text)
    except Exception as failure:  # boto3 makes its classes of errors when it runs.
        raise TrainingError(f"{target}: cannot be written: {failure}; give --outputs") from failure
