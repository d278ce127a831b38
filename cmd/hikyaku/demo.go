package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	_ "modernc.org/sqlite" // the users' database

	"github.com/hikyaku/hikyaku/examples"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newDemo() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The main job on loopback, live, with a table of every hop at the end",
		Long: `Runs examples/push.yaml in one process: one message, {"news": 42}, goes into a durable queue; it becomes a message for each user of a
database, each with what was picked for that user; these go into a durable queue, too, and from there to far ends that
answer as Apple's and Google's do, some 40 ms later and sometimes much later. Nothing leaves this machine. At the end stands how long
that took, beside the figures of the field report that it goes back to, and how long each hop took.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d.users < 1 || d.users > mostDemoUsers {
				return &usageError{fmt.Errorf("--users %d is not between 1 and %s", d.users,
					measure.Count(mostDemoUsers)), "try 10000"}
			}
			d.out = cmd.OutOrStdout()
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().IntVar(&d.users, "users", 10_000, "how many there are")
	cmd.Flags().StringVar(&d.dir, "dir", "", "keep journal, database and keys in this `FOLDER` (default: a temporary "+
		"one)")
	cmd.AddCommand(newDemoCluster())
	return cmd
}

const mostDemoUsers = 10_000_000

type demo struct {
	users int
	dir   string
	out   io.Writer
}

func (d *demo) run(ctx context.Context) (err error) {
	dir := d.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "hikyaku-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if exists(filepath.Join(dir, "data")) {
		return &usageError{fmt.Errorf("the folder %s has the journal of an earlier demo: the counts would not add up",
			dir), "name another folder with --dir, or remove this one"}
	}
	phones, err := openPhones(filepath.Join(dir, "sandbox"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, phones.close()) }()
	if err := d.makeUsers(ctx, filepath.Join(dir, "push.db")); err != nil {
		return err
	}
	f, err := d.config(dir, phones)
	if err != nil {
		return err
	}
	h, err := openHouse(ctx, f, io.Discard, false)
	if err != nil {
		return err
	}
	defer func() { err = h.end(err) }()
	defer onHangup(ctx, func() { h.reload("") })()
	seen := newCampaignHops("ios", "android")
	p, err := h.newPipeline(strings.NewReader("{\"news\": 42}\n"), io.Discard, true, seen)
	if err != nil {
		return err
	}

	s := terminalOf(d.out)
	fmt.Fprintf(d.out, "%s\n\n", s.wrap(fmt.Sprintf("one message → queue news → %s users, each with what was picked "+
		"→ queue outbox → phones at %s (as Apple) and %s (as Google)",
		measure.Count(int64(d.users)), phones.apple.Addr(), phones.google.Addr()), "  "))
	seen.begin(time.Now())
	end := seen.live(os.Stderr, d.users)
	result, err := p.run(ctx)
	end()
	if err != nil {
		return err
	}
	took := seen.took()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %s: %w", measure.Duration(took), context.Canceled)
	}
	if err := seen.writeSeed(d.out, s, d.users, took); err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	if err := seen.table(s).WriteText(d.out); err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	if result.DeadLettered > 0 {
		return deadIn(result)
	}
	return d.account(ctx, s, h.store, phones, took)
}

// makeUsers fills the example's database with as many users as are wanted.
func (d *demo) makeUsers(ctx context.Context, file string) (err error) {
	text, err := examples.Files.ReadFile(examples.PushTables)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	statements := strings.Replace(string(text), "i < 10000)", fmt.Sprintf("i < %d)", d.users), 1)
	if _, err := db.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("make the users' database: %w", err)
	}
	return nil
}

// config is the example with the demo's own folders and far ends.
func (d *demo) config(dir string, phones *phones) (*config.File, error) {
	text, err := examples.Files.ReadFile(examples.Push)
	if err != nil {
		return nil, err
	}
	values := map[string]string{
		"HIKYAKU_DATA": filepath.Join(dir, "data"), "PUSH_DB": filepath.Join(dir, "push.db"), "SANDBOX": phones.dir,
		"APNS": phones.apple.Addr().String(), "FCM": phones.google.Addr().String(),
	}
	return config.Parse(examples.Push, text, func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
}

// account compares what was to be told with what the phones were told.
func (d *demo) account(ctx context.Context, sc terminal, store queue.Looking, phones *phones,
	took time.Duration) error {
	s, err := store.Stats(ctx, queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"})
	if err != nil {
		return err
	}
	apple, google := phones.apple.Counts(), phones.google.Counts()
	t := measure.NewTable(measure.Column{Name: "messages"}, measure.Column{Name: "count", Align: measure.Right})
	count := func(what string, n int64) { t.Row(what, measure.Count(n)) }
	count("users", int64(d.users))
	count("put into the outbox", int64(s.TotalPut))
	count("delivered as Apple does", apple.Accepted)
	count("delivered as Google does", google.Accepted)
	count("phones that were told twice", int64(apple.Doubles+google.Doubles))
	count("left in the outbox", int64(s.Messages()))
	count("connections that it took", apple.Connections+google.Connections)
	if err := t.WriteText(d.out); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\n%s\n", sc.wrap(fmt.Sprintf("all of it in %s; every message was synced twice before it was "+
		"answered for", measure.Duration(took)), ""))
	devices := apple.Devices + google.Devices
	if int(s.TotalPut) != d.users || devices != d.users || apple.Accepted+google.Accepted != int64(d.users) ||
		s.Messages() != 0 {
		return fmt.Errorf("the counts do not add up: %d users, %d messages, %d phones, %d pushes, %d left", d.users,
			s.TotalPut, devices, apple.Accepted+google.Accepted, s.Messages())
	}
	return nil
}
