"""VolumeSource: where the files of a shared volume are, on whichever cloud."""

from typing import TypedDict

import pulumi


class VolumeSource(TypedDict, total=False):
    """Where the files are: one of efs, fsx_lustre, azure_lustre, s3, nfs,
    azure_blob and azure_files."""

    efs: pulumi.Input[str]
    """Id of an EFS file system, fs-..."""
    access_point: pulumi.Input[str]
    """With efs: id of an access point, fsap-..., whose user and directory then hold for everybody."""
    fsx_lustre: pulumi.Input[str]
    """A file system of FSx for Lustre, as <DNS name>@tcp:/<mount name>."""
    azure_lustre: pulumi.Input[str]
    """A file system of Azure Managed Lustre, as <address of its management server>@tcp:/lustrefs."""
    s3: pulumi.Input[str]
    """A bucket that is read and not written, as s3://bucket or s3://bucket/prefix, by Mountpoint for Amazon S3."""
    bucket_region: str
    """With s3: the bucket's region, which the driver cannot ask of instances whose hop limit is 1."""
    nfs: pulumi.Input[str]
    """An NFS 4.1 server and the directory that it exports, for instance 10.0.0.5:/export/shared."""
    azure_blob: pulumi.Input[str]
    """A blob container with NFS 3.0, as <resource group>/<account>/<container>."""
    azure_files: pulumi.Input[str]
    """A premium file share with NFS 4.1, as <resource group>/<account>/<share>."""
