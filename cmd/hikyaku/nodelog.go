package main

import (
	"fmt"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// clusterDir is where a node of a cluster keeps its part of the log.
func clusterDir(dataDir string) string { return filepath.Join(dataDir, "cluster") }

// nodeLog is the copy of a cluster's log in dir, which is a data_dir, the folder cluster in it, or the copy itself; "":
// there is none.
func nodeLog(dir string) string {
	for _, log := range []string{filepath.Join(clusterDir(dir), "log"), filepath.Join(dir, "log"), dir} {
		// Beside the copy lies which replica it is.
		if filepath.Base(log) == "log" && exists(filepath.Join(filepath.Dir(log), "replica")) && exists(log) {
			return log
		}
	}
	return ""
}

// nodeDir is the folder of a node's part of the log: dir, or the folder cluster in it; "": neither is.
func nodeDir(dir string) string {
	for _, dir := range []string{clusterDir(dir), dir} {
		if exists(filepath.Join(dir, "replica")) {
			return dir
		}
	}
	return ""
}

// stoppedLog is the log in folders of nodes that do not run, only to be read.
type stoppedLog struct {
	journal.Journal
	dir string // the folder whose copy it is
	few error  // why it may lack something that was acknowledged; nil: it cannot
}

// notANodes refuses to repair a copy of a cluster's log: the others would take what was put in the place of what is
// damaged for what they have there.
func notANodes(log string) error {
	dir := filepath.Dir(log)
	return &hinted{fmt.Errorf("%s is a node's copy of a cluster's log, which is not repaired", log),
		"stop the node, move " + dir + " away, and start it: it gets the log from the other nodes, most of which have " +
			"to be there"}
}
