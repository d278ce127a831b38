package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

// howShardsChange is what split and join have in common, for people.
const howShardsChange = `

Stop the server first: the command takes the locks of all journals. It writes new journals beside the old ones, which
needs as much room as they have, reads both, and compares every queue with all of its messages, every topic and every
note, byte by byte. Only then the new ones take the place of the old ones, which stay in DIR/replaced-TIME: delete them
when the server runs as it should.

What is claimed stays claimed until its lease ends, what waits keeps its order, its delay and its attempts; messages of
the past, deduplication ids, snapshots, functions' mappings and campaigns are there as before. Handles of claims made
before (receipt handles, ack ids) are good for queues that keep their number, and stale for others: those messages come
again when their leases end.

It may be ended at any moment, by kill -9 or a power cut: before the new journals are complete nothing has changed, and
after that the server does not start until the same command has been given once more. Damage is not copied: look with
` + "`hikyaku journal check`" + `, and repair it first.`

func newJournalSplit() *cobra.Command {
	var shards int
	cmd := &cobra.Command{
		Use:   "split DIR --shards N",
		Short: "Make N shards of a data_dir that has one",
		Long: `Spreads the queues and topics of DIR, a data_dir, over so many shards, each with a journal of its own. Set shards: N
in the configuration then. Several shards are not faster everywhere: see what ` + "`hikyaku bench queue --only " +
			"shards,relay`" + `
says on the machine first.` + howShardsChange,
		Example: "  hikyaku journal split ./hikyaku-data --shards 4",
		Args:    oneArg("the DIR of a data_dir"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if shards < 2 || shards > shard.MaxShards {
				return &usageError{fmt.Errorf("--shards is %d: it is a number from 2 to %d", shards, shard.MaxShards),
					seeHelp(cmd)}
			}
			return changeShards(cmd.Context(), args[0], shards, cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&shards, "shards", 0, "`N`, how many shards there are to be")
	return cmd
}

func newJournalJoin() *cobra.Command {
	return &cobra.Command{
		Use:   "join DIR",
		Short: "Make one of all shards of a data_dir",
		Long: `Brings the queues and topics of all shards of DIR, a data_dir, into one journal. Take shards: out of the configuration
then. What is on its way between shards arrives first; where that cannot be, because a queue is full, it says so and
changes nothing. For another number of shards join first and split then.` + howShardsChange,
		Example: "  hikyaku journal join ./hikyaku-data",
		Args:    oneArg("the DIR of a data_dir"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeShards(cmd.Context(), args[0], 1, cmd.OutOrStdout())
		},
	}
}

// Where new journals are made, and where the old ones stay. What is in resharding is of a change that was not ended.
const (
	resharding  = "resharding"
	reshardNew  = "new"
	reshardOld  = "old"
	reshardDone = "complete" // says from how many shards to how many: the new journals are complete
)

// unfinishedChange is the number of shards that a data_dir is being given, if the new journals are complete; else 0.
func unfinishedChange(data string) (from, to int, err error) {
	text, err := os.ReadFile(filepath.Join(data, resharding, reshardDone))
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(text)), " to ")
	from, err = strconv.Atoi(first)
	if err == nil {
		to, err = strconv.Atoi(second)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s is not understood: %w", filepath.Join(data, resharding, reshardDone), err)
	}
	return from, to, nil
}

// checkUnfinished refuses a data_dir whose shards are being changed.
func checkUnfinished(data string) error {
	_, to, err := unfinishedChange(data)
	if err == nil && to != 0 {
		err = &hinted{fmt.Errorf("the change of data_dir %s to %s was not ended", data, count(int64(to), "shard")),
			"end it with `" + changeCommand(data, to) + "`"}
	}
	return err
}

func changeCommand(data string, shards int) string {
	if shards == 1 {
		return "hikyaku journal join " + data
	}
	return fmt.Sprintf("hikyaku journal split %s --shards %d", data, shards)
}

// changeShards gives a data_dir another number of shards, or ends such a change.
func changeShards(ctx context.Context, data string, shards int, out io.Writer) error {
	from, to, err := unfinishedChange(data)
	switch {
	case err != nil:
		return err
	case to != 0 && to != shards:
		return checkUnfinished(data)
	case to == 0:
		if from, err = writeShards(ctx, data, shards, out); err != nil {
			return err
		}
		if from == shards {
			fmt.Fprintf(out, "%s has %s already.\n", data, count(int64(shards), "shard"))
			return nil
		}
	}
	aside, err := exchange(data, from, shards)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has %s now: set shards: %d in its configuration.\nThe journals of before are in %s: delete "+
		"them when the server runs as it should.\n", data, count(int64(shards), "shard"), shards, aside)
	return nil
}

// writeShards writes and compares the new journals of a data_dir, and says durably that they are complete.
func writeShards(ctx context.Context, data string, shards int, out io.Writer) (from int, err error) {
	if log := nodeLog(data); log != "" && !exists(journalDir(data)) {
		return 0, &hinted{fmt.Errorf("%s is of a node of a cluster, which has one shard", data), "docs/cluster.md"}
	}
	if !exists(journalDir(data)) {
		return 0, &hinted{fmt.Errorf("%s has no journal", data), "DIR is what the configuration calls data_dir"}
	}
	dirs := shardDirs(data)
	if len(dirs) > 1 && shards > 1 && len(dirs) != shards {
		return 0, &hinted{fmt.Errorf("%s has %d shards, and they cannot become %d at once", data, len(dirs), shards),
			"join them first: " + changeCommand(data, 1)}
	}
	if err := sameDisk(data, dirs); err != nil && len(dirs) != shards {
		return 0, err
	}
	old, err := openAll(ctx, dirs)
	defer func() { err = errors.Join(err, closeAll(old)) }()
	if err != nil {
		return 0, err
	}
	if err := checkUnfinished(data); err != nil { // of one that had the locks until then
		return 0, err
	}
	staging, completed := filepath.Join(data, resharding), false
	if err := os.RemoveAll(staging); err != nil || len(dirs) == shards { // of one that was ended early
		return len(dirs), err
	}
	defer func() {
		if err != nil && !completed {
			err = errors.Join(err, os.RemoveAll(staging)) // it may be that the disk is full
		}
	}()
	var fresh []string
	for i := range shards {
		fresh = append(fresh, shardDir(filepath.Join(staging, reshardNew), i))
	}
	was, err := rewriteInto(ctx, old, fresh)
	if err != nil {
		return 0, err
	}
	if err := compareWith(ctx, was, fresh); err != nil {
		return 0, err
	}
	printInventory(out, was)
	completed = true
	return len(dirs), complete(staging, len(dirs), shards)
}

// rewriteInto writes new journals.
func rewriteInto(ctx context.Context, old []*file.Journal, dirs []string) (was *queue.Inventory, err error) {
	fresh, err := openAll(ctx, dirs)
	defer func() { err = errors.Join(err, closeAll(fresh)) }()
	if err != nil {
		return nil, err
	}
	show, clear := progressOf("read and copy")
	defer clear()
	return shard.Rewrite(ctx, asJournals(old), asJournals(fresh), show)
}

// compareWith reads the new journals as a start would.
func compareWith(ctx context.Context, was *queue.Inventory, dirs []string) (err error) {
	fresh, err := openAll(ctx, dirs)
	defer func() { err = errors.Join(err, closeAll(fresh)) }()
	if err != nil {
		return err
	}
	show, clear := progressOf("compare")
	defer clear()
	return shard.Compare(ctx, was, asJournals(fresh), show)
}

func openAll(ctx context.Context, dirs []string) (js []*file.Journal, err error) {
	for _, dir := range dirs {
		j, err := file.Open(ctx, file.Options{Dir: dir})
		if err != nil {
			return js, err
		}
		js = append(js, j)
	}
	return js, nil
}

func closeAll(js []*file.Journal) (err error) {
	for _, j := range js {
		err = errors.Join(err, j.Close())
	}
	return err
}

func asJournals(js []*file.Journal) (all []journal.Journal) {
	for _, j := range js {
		all = append(all, j)
	}
	return all
}

// sameDisk refuses journals that cannot be renamed within the data_dir.
func sameDisk(data string, dirs []string) error {
	want, err := diskOf(data)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		disk, err := diskOf(dir)
		if err != nil {
			return err
		}
		if disk != want {
			return &hinted{fmt.Errorf("%s is on another disk than %s", dir, data), "copy the folder into data_dir, " +
				"in the place of the mount point, and move the new ones to their disks afterwards"}
		}
	}
	return nil
}

// complete says durably that the new journals are.
func complete(staging string, from, to int) error {
	if err := durable.SyncDir(filepath.Join(staging, reshardNew)); err != nil {
		return err
	}
	what := fmt.Appendf(nil, "%d to %d\n", from, to)
	if err := durable.WriteFile(filepath.Join(staging, reshardDone), what); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(staging))
}

// renames are what puts new journals in the place of the old ones, in their order. Each is done once: where it leads to
// is something then.
func renames(data string, from, to int) (all [][2]string) {
	staging := filepath.Join(data, resharding)
	for i := range from {
		all = append(all, [2]string{shardDir(data, i), shardDir(filepath.Join(staging, reshardOld), i)})
	}
	for i := range to {
		all = append(all, [2]string{shardDir(filepath.Join(staging, reshardNew), i), shardDir(data, i)})
	}
	return all
}

// exchange puts new journals, which are complete, in the place of the old ones, and says where those are. It goes on
// where an earlier call ended.
func exchange(data string, from, to int) (aside string, err error) {
	staging := filepath.Join(data, resharding)
	if err := os.MkdirAll(filepath.Join(staging, reshardOld), 0o700); err != nil {
		return "", err
	}
	folders := []string{data, filepath.Join(staging, reshardOld), filepath.Join(staging, reshardNew)}
	for _, r := range renames(data, from, to) {
		if exists(r[1]) {
			continue
		}
		err := os.Rename(r[0], r[1])
		for _, dir := range folders {
			err = errors.Join(err, durable.SyncDir(dir))
		}
		if err != nil {
			return "", &hinted{err, "give the same command again when that can be done"}
		}
	}
	aside = filepath.Join(data, "replaced-"+time.Now().UTC().Format("20060102-150405.000"))
	if err := os.Rename(staging, aside); err != nil { // with what says that there is something to end
		return "", err
	}
	return filepath.Join(aside, reshardOld), durable.SyncDir(data)
}

func printInventory(out io.Writer, v *queue.Inventory) {
	var sum queue.QueueSum
	for _, q := range v.Queues {
		sum.Messages, sum.Past = sum.Messages+q.Messages, sum.Past+q.Past
		sum.Claimed, sum.Snapshots = sum.Claimed+q.Claimed, sum.Snapshots+q.Snapshots
	}
	t := measure.NewTable(measure.Column{Name: "the same before and after"}, measure.Column{Name: ""})
	for _, row := range []struct {
		what string
		n    int
	}{
		{"queues", len(v.Queues)}, {"topics", len(v.Topics)}, {"messages", sum.Messages},
		{"of them claimed", sum.Claimed}, {"kept for a seek", sum.Past}, {"snapshots", sum.Snapshots},
		{"notes", len(v.Notes)},
	} {
		t.Row(row.what, measure.Count(int64(row.n)))
	}
	_ = t.WriteText(out)
}
