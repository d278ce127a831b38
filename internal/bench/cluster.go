//go:build !no_cluster

package bench

import "github.com/hikyaku/hikyaku/internal/bench/cluster"

// ofClusters are the experiments that need the engine of clusters.
var ofClusters = []Bench{{
	Name: "cluster",
	Summary: "three nodes on one machine: puts, moves and takeovers after kills, beside raw appends to their log, one " +
		"node and the disk",
	Works: cluster.Works(),
	Kills: true,
	Run:   cluster.Run,
}}
