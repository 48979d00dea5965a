# The program that was submitted with the job; a part of what start.py sends.
from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path

from gpufleet.jobs.aws_batch.node_side.failure import StartError
from gpufleet.jobs.aws_batch.node_side.s3 import fetch


# Unpacks an archive of this SHA-256 into the folder, and goes there.
def unpack(folder: str, digest: str, bucket: str, key: str, region: str) -> None:
    packed = fetch(bucket, key, region)
    if hashlib.sha256(packed).hexdigest() != digest:
        raise StartError("s3://" + bucket + "/" + key + " is not what was submitted")
    archive = zipfile.ZipFile(io.BytesIO(packed))
    for each in archive.infolist():
        Path(archive.extract(each, folder)).chmod(each.external_attr >> 16)
    os.chdir(folder)
