package main

import (
	"fmt"
	"path/filepath"
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

// notANodes refuses to repair a copy of a cluster's log: the others would take what was put in the place of what is
// damaged for what they have there.
func notANodes(log string) error {
	dir := filepath.Dir(log)
	return &hinted{fmt.Errorf("%s is a node's copy of a cluster's log, which is not repaired", log),
		"stop the node, move " + dir + " away, and start it: it gets the log from the other nodes, most of which have " +
			"to be there"}
}
