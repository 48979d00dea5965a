// Another team's program: GPU training in a VPC of its own, with the SDK that `pulumi package add` makes.
package main

import (
	"sort"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"gpufleet.dev/sdk/go/gpufleet-aws/gpufleetaws"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		own := config.New(ctx, "")
		region := config.New(ctx, "aws").Require("region")
		vpcId := pulumi.String(own.Require("vpcId"))
		var ids map[string]string
		own.RequireObject("subnetIds", &ids)
		zones := make([]string, 0, len(ids))
		subnetIds := map[string]pulumi.StringInput{}
		for zone, id := range ids {
			zones = append(zones, zone)
			subnetIds[zone] = pulumi.String(id)
		}
		sort.Strings(zones)
		tags := map[string]string{
			"owner": "speech", "project": "speech", "environment": ctx.Stack(), "expires-at": "2027-12-31",
		}

		cluster, err := gpufleetaws.NewCluster(ctx, "speech", &gpufleetaws.ClusterArgs{
			Region:    pulumi.StringRef(region),
			SubnetIds: subnetIds,
			Admins:    map[string]pulumi.StringInput{"platform": pulumi.String(own.Require("admin"))},
			Tags:      tags,
		})
		if err != nil {
			return err
		}
		files, err := gpufleetaws.NewSharedFiles(ctx, "speech-files", &gpufleetaws.SharedFilesArgs{
			Region:                 pulumi.StringRef(region),
			Zones:                  zones,
			VpcId:                  vpcId,
			SubnetIds:              subnetIds,
			ClientSecurityGroupIds: map[string]pulumi.StringInput{"nodes": cluster.ClusterSecurityGroupId},
			Tags:                   tags,
		})
		if err != nil {
			return err
		}
		trainers, err := gpufleetaws.NewGpuNodeGroup(ctx, "speech-trainers", &gpufleetaws.GpuNodeGroupArgs{
			Region:    pulumi.StringRef(region),
			Types:     []string{"g6.12xlarge"},
			Max:       2,
			Zones:     []string{"use1-az1"},
			VpcId:     vpcId,
			SubnetIds: subnetIds,
			// Nodes come after the add-ons without which they never join.
			ClusterName:            cluster.Ready,
			ClusterSecurityGroupId: cluster.ClusterSecurityGroupId,
			Tags:                   tags,
		})
		if err != nil {
			return err
		}
		ctx.Export("clusterName", cluster.ClusterName)
		ctx.Export("kubeconfig", cluster.Kubeconfig)
		ctx.Export("fileSystemId", files.FileSystemId)
		ctx.Export("nodeGroupName", trainers.NodeGroupName)
		return nil
	})
}
