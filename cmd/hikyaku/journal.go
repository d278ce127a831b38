package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func newJournal() *cobra.Command {
	return group(&cobra.Command{
		Use:   "journal",
		Short: "Check or repair a journal, change the number of shards, or copy it into a cluster and back",
	}, newJournalCheck(), newJournalRepair(), newJournalSplit(), newJournalJoin(), newJournalCopy())
}

func newJournalCheck() *cobra.Command {
	var watch bool
	var every time.Duration
	var rate int64
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Read a whole journal and report what is damaged; changes nothing",
		Long: `Reads every segment, group, body and checkpoint of the journal in DIR (a data_dir, or the journal folder in it;
of a node of a cluster its copy of the log), and the archives of functions in a data_dir.
It changes nothing, and may look at a journal in use. Exit status 1 when there is damage.

With --watch it looks again and again until it is interrupted, and tells each damaged place once. It reads beside the
page cache, and no more than --bytes-per-second, so that a server that uses the journal does not feel it.`,
		Example: "  hikyaku journal check ./hikyaku-data",
		Args:    oneArg("the DIR of a journal, or its data_dir"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch {
				var ws []*file.Watcher
				for _, dir := range findJournals(args[0]) {
					ws = append(ws, &file.Watcher{Dir: dir, BytesPerSecond: rate})
				}
				return watchJournals(cmd.Context(), ws, every, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return checkJournal(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "look again and again until interrupted")
	cmd.Flags().DurationVar(&every, "every", time.Hour,
		"with --watch: from the beginning of one look to that of the next")
	cmd.Flags().Int64Var(&rate, "bytes-per-second", 8<<20,
		"with --watch: `BYTES` that are read in a second at most; 0: no bound")
	return cmd
}

// watchJournals looks at journals, one after the other, until ctx ends. Where nothing was damaged that is no error. A
// look that fails is told, and may be better next time; the first has to succeed.
func watchJournals(ctx context.Context, ws []*file.Watcher, every time.Duration, out, complain io.Writer) error {
	damaged := 0
	for looks := 1; ; looks++ {
		next := time.After(every)
		for _, w := range ws {
			n, err := lookOnce(ctx, w, looks == 1, out, complain)
			if err != nil {
				return err
			}
			damaged += n
		}
		if ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-next:
				continue
			}
		}
		if damaged > 0 {
			return fmt.Errorf("journal %s: %s in %s", ws[0].Dir, count(int64(damaged), "damaged place"),
				count(int64(looks), "look"))
		}
		return nil
	}
}

// lookOnce looks at one journal and tells what is damaged there that it has not told before.
func lookOnce(ctx context.Context, w *file.Watcher, first bool, out, complain io.Writer) (damaged int, err error) {
	report, fresh, err := w.Look(ctx, nil)
	switch {
	case ctx.Err() != nil:
	case err != nil && first:
		return 0, err
	case err != nil:
		fmt.Fprintln(complain, explain(err))
	case first:
		printReport(out, report)
	default:
		for _, d := range fresh {
			fmt.Fprintf(out, "%s %s\n", time.Now().UTC().Format(time.RFC3339), d.String())
		}
	}
	return len(fresh), nil
}

func checkJournal(ctx context.Context, dir string, out io.Writer) error {
	var damaged error
	for _, journal := range findJournals(dir) {
		show, clear := progressOf("check")
		report, err := file.Check(ctx, journal, show)
		clear()
		if err != nil {
			return err
		}
		printReport(out, report)
		if n := len(report.Damages); n > 0 {
			damaged = errors.Join(damaged, fmt.Errorf("journal %s: %s", report.Dir, count(int64(n), "damaged place")))
		}
	}
	altered, err := checkArchives(ctx, dir, out)
	if err == nil && damaged == nil && altered > 0 {
		err = fmt.Errorf("functions in %s: %s", dir, count(int64(altered), "damaged archive"))
	}
	return errors.Join(err, damaged)
}

// checkArchives looks at the code of functions, if dir is a data_dir with some.
func checkArchives(ctx context.Context, dir string, out io.Writer) (altered int, err error) {
	var lines []string
	n, err := deployment.CheckArchives(ctx, functionsDir(dir), func(file, what string) {
		lines = append(lines, file+" "+what+": what needs it does not run; deploy the same code again")
	})
	if err != nil || n == 0 {
		return 0, err
	}
	fmt.Fprintf(out, "Archives of functions: %d, %d of them damaged.\n", n, len(lines))
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	return len(lines), nil
}

// progressOf is a bar on stderr for work that learns its length on the way.
func progressOf(label string) (show func(done, total int64), clear func()) {
	var bar *measure.Progress
	return func(done, total int64) {
			if bar == nil {
				bar = measure.StderrProgress(label, total)
			}
			bar.Set(done)
		}, func() {
			bar.Clear()
		}
}

// findJournals takes a data_dir for the journals in it: one of each shard, and a node's copy of a cluster's log.
func findJournals(dir string) (dirs []string) {
	if exists(journalDir(dir)) {
		dirs = shardDirs(dir)
	}
	if log := nodeLog(dir); log != "" {
		dirs = append(dirs, log)
	}
	if dirs == nil {
		dirs = []string{dir}
	}
	return dirs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func newJournalRepair() *cobra.Command {
	var accept bool
	var aside string
	cmd := &cobra.Command{
		Use:   "repair --accept-loss DIR",
		Short: "Make a damaged journal open again, at the price of what is damaged",
		Long: `What is damaged cannot be brought back. Repair copies every file aside before it changes it, covers what cannot be
read, and says precisely what was lost. Where nothing is lost it needs no --accept-loss. A torn tail after a crash
needs no repair: the next start drops it.

A node of a cluster has a copy of a log that the other nodes have too, and nothing of it is made up: it gets the log anew
from them.`,
		Example: "  hikyaku journal repair --accept-loss ./hikyaku-data",
		Args:    oneArg("the DIR of a journal, or its data_dir"),
		RunE: func(cmd *cobra.Command, args []string) error {
			loses := &usageError{errors.New("repair loses what is damaged"), "look at it with `hikyaku journal " +
				"check`; if you accept the loss, add --accept-loss"}
			if !accept && !exists(args[0]) {
				return loses
			}
			if log := nodeLog(args[0]); log != "" {
				return notANodes(log)
			}
			journals := findJournals(args[0])
			for _, dir := range journals {
				keep := aside
				if aside != "" && len(journals) > 1 {
					keep = filepath.Join(aside, filepath.Base(dir)) // files of several journals have the same names
				}
				show, clear := progressOf("repair")
				report, err := file.Repair(cmd.Context(), dir,
					file.RepairOptions{KeepAside: keep, Progress: show, NoLoss: !accept})
				clear()
				if errors.Is(err, file.ErrLoss) {
					return loses
				}
				if report != nil {
					printReport(cmd.OutOrStdout(), report)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-loss", false, "go on although what is damaged will be lost")
	cmd.Flags().StringVar(&aside, "keep-aside", "", "`FOLDER` for copies of the damaged files (default DIR/damaged)")
	return cmd
}

func printReport(out io.Writer, r *file.Report) {
	t := measure.NewTable(measure.Column{Name: "journal"}, measure.Column{Name: filepath.Clean(r.Dir)})
	t.Row("segments", measure.Count(int64(r.Segments)))
	if r.Cold > 0 {
		t.Row("cold segments", measure.Count(int64(r.Cold)))
		t.Row("records in them", measure.Count(int64(r.Moved)))
	}
	t.Row("checkpoints", measure.Count(int64(r.Checkpoints)))
	t.Row("groups", measure.Count(int64(r.Groups)))
	t.Row("records", measure.Count(int64(r.Records)))
	t.Row("size", measure.Bytes(r.Bytes))
	if r.TornBytes > 0 {
		t.Row("torn tail", measure.Bytes(r.TornBytes)+" (nothing says that it was synced: a write that was cut off,"+
			" or damage to the last one, which may have been acknowledged; the next start drops it)")
	}
	if r.InUseBy != "" {
		t.Row("in use", r.InUseBy)
	}
	t.Row("damaged places", measure.Count(int64(len(r.Damages))))
	_ = t.WriteText(out)
	for _, d := range r.Damages {
		fmt.Fprintln(out, d.String())
	}
}
