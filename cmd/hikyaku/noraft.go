//go:build no_cluster

package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/link"
)

// openRaft says that this program was built without clusters.
func openRaft(context.Context, *config.File, *link.Listener, *slog.Logger, func(error)) (nodeReplica, error) {
	return nil, &hinted{errNoClusters,
		"leave cluster: out of the configuration, or build the program without the tag no_cluster"}
}

// openAlone says so, too.
func openAlone(context.Context, string, string, file.Options) (journal.Journal, error) {
	return nil, &hinted{errNoClusters, "build it without the tag no_cluster"}
}

// openStopped says so, too.
func openStopped(context.Context, []string) (stoppedLog, error) {
	return stoppedLog{}, &hinted{errNoClusters, "build it without the tag no_cluster"}
}

// clustersLeftOut is what this program was built without, beside doors.
var clustersLeftOut = []string{"cluster"}

var errNoClusters = errors.New("this program was built without clusters")
