//go:build !no_cluster

package main

import (
	"context"
	"log/slog"

	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// openRaft opens a node's copy of the log, in the configuration's data_dir.
func openRaft(ctx context.Context, f *config.File, l *link.Listener, log *slog.Logger, waits func(error)) (nodeReplica,
	error) {
	return replica.Open(ctx, replica.Options{
		Node: f.Cluster.Node, Address: f.Cluster.Peers[f.Cluster.Node], Peers: f.Cluster.Others(), Link: l,
		Dir:  clusterDir(f.DataDir),
		File: fileOptions(f, log), Live: queue.Live,
		Report: func(err error) { log.Warn("replica", "error", err) }, Waits: waits,
	})
}

// openAlone opens or makes a log whose group is one node.
func openAlone(ctx context.Context, node, dir string, o file.Options) (journal.Journal, error) {
	return replica.OpenAlone(ctx, node, dir, o)
}

// openStopped opens the log in folders of nodes.
func openStopped(ctx context.Context, dirs []string) (stoppedLog, error) {
	s, err := replica.OpenStopped(ctx, dirs)
	if err != nil {
		return stoppedLog{}, err
	}
	return stoppedLog{s, s.Dir, s.Few}, nil
}

// clustersLeftOut is what this program was built without, beside doors.
var clustersLeftOut []string
