//go:build no_cluster

package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/link"
)

// openRaft says that this program was built without clusters.
func openRaft(context.Context, *config.File, *link.Listener, *slog.Logger) (nodeReplica, error) {
	return nil, &hinted{errors.New("this program was built without clusters"),
		"leave cluster: out of the configuration, or build the program without the tag no_cluster"}
}
