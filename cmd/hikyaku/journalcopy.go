package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

func newJournalCopy() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "copy FROM --into NODE.yaml",
		Short: "Copy the store of a data_dir into a new cluster",
		Long: `Makes the log of a cluster from FROM, a data_dir with one shard, in the data_dir of one of its nodes: NODE.yaml is
that node's configuration, with cluster:. Stop the server of FROM first, for good: what it takes later is not in the
copy. No node of the cluster may have a log yet.

The command reads the journal of FROM, writes the log beside its place, opens it again, and compares every queue with
all of its messages, every topic and every note, byte by byte. Only then the log takes its place, data_dir/cluster.
FROM stays as it is: delete its journal when the cluster runs as it should.

Then start this node, and the others with empty folders. They are taken in one after the other by themselves: each gets
the log and then a vote. Until then this node is alone with it, and what it acknowledges is on its disk only: see with
` + "`hikyaku cluster status`" + ` that all have it, before clients come.

What is claimed stays claimed until its lease ends, what waits keeps its order, its delay and its attempts; messages of
the past, deduplication ids, snapshots, functions' mappings and campaigns are there as before. Archives of functions are
not in the journal: copy FROM/functions.

It may be ended at any moment, by kill -9 or a power cut, and given again: before the log is complete nothing has
changed. Damage is not copied: look with ` + "`hikyaku journal check`" + `, and repair it first.`,
		Example: "  hikyaku journal copy ./hikyaku-data --into a.yaml",
		Args:    oneArg("the DIR of a data_dir"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if into == "" {
				return &usageError{errors.New("into which cluster?"),
					"name the configuration of the node that gets the log first with --into NODE.yaml"}
			}
			f, err := loadConfig(into, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if !f.Cluster.On() {
				return &hinted{fmt.Errorf("the configuration %s is of no cluster", into),
					"--into takes the configuration of one of the nodes, with cluster: peers:"}
			}
			return copyIntoCluster(cmd.Context(), args[0], f, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "configuration `FILE` of the node that gets the log first")
	return cmd
}

// copying is where a node's log is made, beside clusterDir. What is in it is of a copy that was not ended.
const copying = "cluster-copying"

// copyIntoCluster makes the log of a node, whose configuration is f, from the journal of a data_dir.
func copyIntoCluster(ctx context.Context, from string, f *config.File, out io.Writer) (err error) {
	hold, err := file.Hold(f.DataDir) // so neither another copy nor a node is there until the log is
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Close()) }()
	switch {
	case !exists(journalDir(from)):
		return &hinted{fmt.Errorf("%s has no journal", from), "FROM is what the configuration calls data_dir"}
	case exists(clusterDir(f.DataDir)):
		return &hinted{fmt.Errorf("%s is there already", clusterDir(f.DataDir)), "node " + f.Cluster.Node + " has a " +
			"log: of an earlier copy, which is complete, or of a cluster that is there"}
	}
	was, err := writeLog(ctx, from, f)
	if err != nil {
		return err
	}
	printInventory(out, was)
	fmt.Fprintf(out, "Node %s has the log in %s: start it, and the other nodes with empty folders. "+
		"`hikyaku cluster status` tells when all have it.\n", f.Cluster.Node, clusterDir(f.DataDir))
	if exists(functionsDir(from)) {
		fmt.Fprintf(out, "Archives of functions are not in it: copy %s into the nodes' data_dir.\n",
			functionsDir(from))
	}
	return nil
}

// writeLog writes a node's log, compares it and puts it in its place.
func writeLog(ctx context.Context, from string, f *config.File) (was *queue.Inventory, err error) {
	dirs := shardDirs(from)
	if len(dirs) > 1 {
		return nil, &hinted{fmt.Errorf("%s has %d shards, and a cluster has one", from, len(dirs)),
			"join them first: " + changeCommand(from, 1)}
	}
	old, err := file.Open(ctx, file.Options{Dir: dirs[0]})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if err := checkUnfinished(from); err != nil {
		return nil, err
	}
	staging := filepath.Join(f.DataDir, copying)
	if err := os.RemoveAll(staging); err != nil { // of one that was ended early
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staging)) // it may be that the disk is full
		}
	}()
	err = withLog(ctx, f, staging, "read and copy", func(j journal.Journal, show func(done, total int64)) error {
		was, err = shard.Rewrite(ctx, []journal.Journal{old}, []journal.Journal{j}, show)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = withLog(ctx, f, staging, "compare", func(j journal.Journal, show func(done, total int64)) error {
		return shard.Compare(ctx, was, []journal.Journal{j}, show)
	})
	if err == nil {
		err = syncFolder(staging)
	}
	if err == nil {
		err = os.Rename(staging, clusterDir(f.DataDir))
	}
	if err != nil {
		return nil, err
	}
	return was, syncFolder(f.DataDir)
}

// withLog opens the log in a folder, as one of this node alone, for a function.
func withLog(ctx context.Context, f *config.File, dir, label string,
	use func(j journal.Journal, show func(done, total int64)) error) error {
	j, err := openAlone(ctx, f.Cluster.Node, dir, file.Options{SegmentBytes: f.Journal.SegmentBytes})
	if err != nil {
		return err
	}
	show, clear := progressOf(label)
	defer clear()
	return errors.Join(use(j, show), j.Close())
}
