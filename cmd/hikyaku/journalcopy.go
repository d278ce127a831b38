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
	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

func newJournalCopy() *cobra.Command {
	var into string
	var accept bool
	cmd := &cobra.Command{
		Use:   "copy FROM... --into FILE",
		Short: "Copy the store of a data_dir into a new cluster, or back",
		Long: `Copies everything in FROM to where the configuration FILE has it. FROM stays as it is: delete it when the copy runs
as it should. The command reads FROM, writes the copy beside its place, opens it again, and compares every queue with
all of its messages, every topic and every note, byte by byte. Only then the copy takes its place.

Into a cluster: FROM is a data_dir with one shard, and FILE the configuration of one of the nodes, with cluster:. Stop
the server of FROM first, for good: what it takes later is not in the copy. No node of the cluster may have a log yet.
Then start this node, and the others with empty folders. They are taken in one after the other by themselves: each gets
the log and then a vote. Until then this node is alone with it, and what it acknowledges is on its disk only: see with
` + "`hikyaku cluster status`" + ` that all have it, before clients come.

Back from a cluster: FROM are the data_dirs of its nodes, or copies of the folders cluster in them, and FILE the
configuration of a server alone, without cluster:, whose data_dir has no journal. Stop all nodes first, for good, and
copy folders from other machines after that. What was acknowledged is on most of the nodes, so most of them have to be
given: two of three. The command takes the copy of the log that has everything. From fewer it makes a copy with
--accept-loss only, when the others are lost: what they alone had acknowledged is not in it.

What is claimed stays claimed until its lease ends, what waits keeps its order, its delay and its attempts; messages of
the past, deduplication ids, snapshots, functions' mappings and campaigns are there as before. Archives of functions are
not in the journal: copy FROM/functions.

It may be ended at any moment, by kill -9 or a power cut, and given again: before the copy is complete nothing has
changed. Damage is not copied: look with ` + "`hikyaku journal check`" + `, and repair it first.`,
		Example: `  hikyaku journal copy ./hikyaku-data --into a.yaml
  hikyaku journal copy ./data-a ./data-b ./data-c --into alone.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneArg("the DIR of a data_dir")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if into == "" {
				return &usageError{errors.New("copy it into what?"), "name with --into FILE the configuration of the " +
					"node that gets the log first, or of the server that gets the journal"}
			}
			f, err := loadConfig(into, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if !f.Cluster.On() {
				return copyOutOfCluster(cmd.Context(), args, f, accept, cmd.OutOrStdout())
			}
			if len(args) > 1 {
				return oneArg("the DIR of a data_dir")(cmd, args)
			}
			return copyIntoCluster(cmd.Context(), args[0], f, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "configuration `FILE` of the node that gets the log first, or of a server "+
		"alone")
	cmd.Flags().BoolVar(&accept, "accept-loss", false, "back from a cluster: go on although most of its nodes are not "+
		"given")
	return cmd
}

// copyIntoCluster makes the log of a node, whose configuration is f, from the journal of a data_dir.
func copyIntoCluster(ctx context.Context, from string, f *config.File, out io.Writer) error {
	if !exists(journalDir(from)) {
		return &hinted{fmt.Errorf("%s has no journal", from), "FROM is what the configuration calls data_dir"}
	}
	t := copyTarget{data: f.DataDir, place: clusterDir(f.DataDir), there: "node " + f.Cluster.Node + " has a log: of " +
		"an earlier copy, which is complete, or of a cluster that is there",
		open: func(ctx context.Context, dir string) (journal.Journal, error) {
			return openAlone(ctx, f.Cluster.Node, dir, file.Options{SegmentBytes: f.Journal.SegmentBytes})
		}}
	was, err := t.copy(ctx, func() (journal.Journal, error) { return openOnly(ctx, from) })
	if err != nil {
		return err
	}
	printInventory(out, was)
	fmt.Fprintf(out, "Node %s has the log in %s: start it, and the other nodes with empty folders. "+
		"`hikyaku cluster status` tells when all have it.\n", f.Cluster.Node, t.place)
	sayArchives(out, f.DataDir, from)
	return nil
}

// copyOutOfCluster makes the journal of a server alone, whose configuration is f, from the log in folders of nodes.
func copyOutOfCluster(ctx context.Context, from []string, f *config.File, accept bool, out io.Writer) error {
	var dirs []string
	for _, dir := range from {
		node := nodeDir(dir)
		if node == "" {
			return &hinted{fmt.Errorf("%s has no log of a cluster", dir), "FROM is the data_dir of a node, or the " +
				"folder cluster in it, when --into takes a configuration without cluster:"}
		}
		dirs = append(dirs, node)
	}
	if f.Shards > 1 {
		return &hinted{fmt.Errorf("the configuration says shards: %d, and a cluster has one", f.Shards),
			"set shards: 1, and split the journal later"}
	}
	if err := checkUnfinished(f.DataDir); err != nil {
		return err
	}
	t := copyTarget{data: f.DataDir, place: journalDir(f.DataDir), there: "take a data_dir without a journal",
		open: func(ctx context.Context, dir string) (journal.Journal, error) {
			return file.Open(ctx, file.Options{Dir: dir, SegmentBytes: f.Journal.SegmentBytes})
		}}
	var log stoppedLog
	was, err := t.copy(ctx, func() (j journal.Journal, err error) {
		log, err = openStopped(ctx, dirs)
		if err == nil && log.few != nil && !accept {
			err = errors.Join(&hinted{log.few, "give the data_dirs of more nodes, or copies of the folders cluster in " +
				"them; if the others are lost, and you accept what that loses, add --accept-loss"}, log.Close())
		}
		return log.Journal, err
	})
	if err != nil {
		return err
	}
	printInventory(out, was)
	fmt.Fprintf(out, "The journal in %s is the log of %s.\n", t.place, log.dir)
	if log.few != nil {
		fmt.Fprintf(out, "It is made of %v.\n", log.few)
	}
	fmt.Fprintln(out, "Start no node of the cluster any more: what it took would not be in this journal.")
	sayArchives(out, f.DataDir, from...)
	return nil
}

// sayArchives tells of folders with what is not in a journal.
func sayArchives(out io.Writer, to string, from ...string) {
	for _, dir := range from {
		if exists(functionsDir(dir)) {
			fmt.Fprintf(out, "Archives of functions are not in it: copy %s into %s.\n", functionsDir(dir), to)
		}
	}
}

// openOnly opens the journal of a data_dir with one shard.
func openOnly(ctx context.Context, data string) (journal.Journal, error) {
	dirs := shardDirs(data)
	if len(dirs) > 1 {
		return nil, &hinted{fmt.Errorf("%s has %d shards, and a cluster has one", data, len(dirs)),
			"join them first: " + changeCommand(data, 1)}
	}
	j, err := file.Open(ctx, file.Options{Dir: dirs[0]})
	if err != nil {
		return nil, err
	}
	if err := checkUnfinished(data); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// copyTarget is where a journal is copied to.
type copyTarget struct {
	data  string // the data_dir
	place string // the folder in it that the copy makes
	there string // what to say when that is there already
	open  func(ctx context.Context, dir string) (journal.Journal, error)
}

// copy copies what a journal tells into another one, compares it and puts that in its place. The data_dir is held and
// the journal open until it is there.
func (t *copyTarget) copy(ctx context.Context, open func() (journal.Journal, error)) (was *queue.Inventory, err error) {
	hold, err := file.Hold(t.data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hold.Close()) }()
	if exists(t.place) {
		return nil, t.isThere()
	}
	old, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	staging := t.place + "-copying" // what is in it is of a copy that was not ended
	if err := os.RemoveAll(staging); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staging)) // it may be that the disk is full
		}
	}()
	err = t.with(ctx, staging, "read and copy", func(j journal.Journal, show func(done, total int64)) error {
		was, err = shard.Rewrite(ctx, []journal.Journal{old}, []journal.Journal{j}, show)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = t.with(ctx, staging, "compare", func(j journal.Journal, show func(done, total int64)) error {
		return shard.Compare(ctx, was, []journal.Journal{j}, show)
	})
	if err == nil {
		err = durable.SyncDir(staging)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Rename(staging, t.place); err != nil {
		if exists(t.place) { // a server was started meanwhile
			err = t.isThere()
		}
		return nil, err
	}
	return was, errors.Join(durable.SyncDir(t.data), durable.SyncDir(filepath.Dir(t.data)))
}

func (t *copyTarget) isThere() error {
	return &hinted{fmt.Errorf("%s is there already", t.place), t.there}
}

// with opens the copy in a folder for a function.
func (t *copyTarget) with(ctx context.Context, dir, label string,
	use func(j journal.Journal, show func(done, total int64)) error) error {
	j, err := t.open(ctx, dir)
	if err != nil {
		return err
	}
	show, clear := progressOf(label)
	defer clear()
	return errors.Join(use(j, show), j.Close())
}
