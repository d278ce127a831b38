//go:build no_cluster

package bench

var ofClusters []Bench
