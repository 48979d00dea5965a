// Another team's program: GPU training in a VPC of its own, with the SDK that `pulumi package add` makes.

import * as gpufleet from "@gpufleet/aws";
import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();
const region = new pulumi.Config("aws").require("region");
const vpcId = config.require("vpcId");
const subnetIds = config.requireObject<Record<string, string>>("subnetIds");
const tags = { owner: "speech", project: "speech", environment: pulumi.getStack(), "expires-at": "2027-12-31" };

const cluster = new gpufleet.Cluster("speech", {
    region,
    subnetIds,
    admins: { platform: config.require("admin") },
    tags,
});

const files = new gpufleet.SharedFiles("speech-files", {
    region,
    zones: Object.keys(subnetIds),
    vpcId,
    subnetIds,
    clientSecurityGroupIds: { nodes: cluster.clusterSecurityGroupId },
    tags,
});

const trainers = new gpufleet.GpuNodeGroup("speech-trainers", {
    region,
    types: ["g6.12xlarge"],
    max: 2,
    zones: ["use1-az1"],
    vpcId,
    subnetIds,
    // Nodes come after the add-ons without which they never join.
    clusterName: cluster.ready,
    clusterSecurityGroupId: cluster.clusterSecurityGroupId,
    tags,
});

export const clusterName = cluster.clusterName;
export const kubeconfig = cluster.kubeconfig;
export const fileSystemId = files.fileSystemId;
export const nodeGroupName = trainers.nodeGroupName;
