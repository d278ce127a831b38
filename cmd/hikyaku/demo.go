package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/examples"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

func newDemo() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The main job on loopback, live, with a table of every hop at the end",
		Long: `Runs examples/dpkg.yaml in one process: a Debian machine's package log goes line by line into a durable queue; what
was installed or upgraded is picked by condition, reshaped, and delivered to a file and to a webhook receiver on
loopback. Nothing leaves this machine. At the end stands how long each hop took, and what came and went.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.out = cmd.OutOrStdout()
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&d.log, "log", "/var/log/dpkg.log", "the package log `FILE` to deliver; one is made up where there is none")
	cmd.Flags().StringVar(&d.dir, "dir", "", "keep journal and results in this `FOLDER` (default: a temporary one)")
	return cmd
}

type demo struct {
	log string
	dir string
	out io.Writer
}

func (d *demo) run(ctx context.Context) (err error) {
	dir := d.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "hikyaku-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if exists(filepath.Join(dir, "data")) {
		return &usageError{fmt.Errorf("the folder %s has the journal of an earlier demo: the counts would not add up", dir), "name another folder with --dir, or remove this one"}
	}
	log, lines, err := d.openLog(dir)
	if err != nil {
		return err
	}
	defer log.Close()
	receiver, err := webhook.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, receiver.Close()) }()

	archive := filepath.Join(dir, "dpkg.ndjson")
	f, err := demoConfig(dir, archive, receiver.URL())
	if err != nil {
		return err
	}
	h, err := openHouse(ctx, f, slog.New(slog.DiscardHandler), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	hops := newHopTable("archive", "notify")
	p, err := h.newPipeline(log, io.Discard, true, hops)
	if err != nil {
		return err
	}

	fmt.Fprintf(d.out, "%s: %s lines → queue dpkg → installs and upgrades → %s and %s\n\n",
		log.Name(), measure.Count(int64(lines)), filepath.Base(archive), receiver.URL())
	start := time.Now()
	result, err := watch(ctx, p, int64(lines))
	if err != nil {
		return err
	}
	took := time.Since(start)
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %s: %w", measure.Duration(took), context.Canceled)
	}
	if err := hops.table().WriteText(d.out); err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	return d.account(h.store, result, lines, archive, receiver, took)
}

// openLog opens the package log, or one that is made up, and counts its lines.
func (d *demo) openLog(dir string) (*os.File, int, error) {
	f, err := os.Open(d.log)
	if errors.Is(err, os.ErrNotExist) {
		made := filepath.Join(dir, "dpkg.log")
		if err := os.WriteFile(made, madeUpLog(5000), 0o644); err != nil {
			return nil, 0, err
		}
		f, err = os.Open(made)
	}
	if err != nil {
		return nil, 0, err
	}
	n, err := countLines(f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, n, nil
}

func countLines(r io.Reader) (n int, err error) {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		if len(sc.Bytes()) > 0 {
			n++
		}
	}
	return n, sc.Err()
}

func demoConfig(dir, archive, url string) (*config.File, error) {
	text, err := examples.Files.ReadFile(examples.Dpkg)
	if err != nil {
		return nil, err
	}
	values := map[string]string{"HIKYAKU_DATA": filepath.Join(dir, "data"), "DPKG_OUT": archive, "DPKG_WEBHOOK": url}
	return config.Parse(examples.Dpkg, text, func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
}

// watch runs the pipeline and shows how far it is.
func watch(ctx context.Context, p *works, lines int64) (pipeline.Result, error) {
	bar := measure.StderrProgress("kept", lines)
	defer bar.Clear()
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				for _, n := range p.Stats() {
					if n.Name == "log" {
						bar.Set(int64(n.Delivered))
					}
				}
			}
		}
	})
	result, err := p.run(ctx)
	close(done)
	watching.Wait()
	return result, err
}

// account compares what came in with what arrived.
func (d *demo) account(store *queue.Store, result pipeline.Result, lines int, archive string, receiver *webhook.Server, took time.Duration) error {
	s, err := store.Stats(queue.Name{Namespace: queue.DefaultNamespace, Name: "dpkg"})
	if err != nil {
		return err
	}
	out, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer out.Close()
	written, err := countLines(out)
	if err != nil {
		return err
	}
	received := receiver.Counts()
	dead := result.DeadLettered
	t := measure.NewTable(measure.Column{Name: "messages"}, measure.Column{Name: "count", Align: measure.Right})
	count := func(what string, n uint64) { t.Row(what, measure.Count(int64(n))) }
	count("in", s.TotalPut)
	count("matching", s.TotalDone)
	count("delivered to the file", uint64(written))
	count("delivered to the webhook", uint64(received.Messages))
	count("left in the queue", uint64(s.Messages()))
	if dead > 0 {
		count("dead letters", dead)
	}
	if err := t.WriteText(d.out); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\nall of it in %s, every message durable (fsync) before it was answered for\n", measure.Duration(took))
	switch {
	case dead > 0:
		return deadIn(result)
	case uint64(lines) != s.TotalPut || s.TotalPut != s.TotalDone+uint64(s.Messages()):
		return fmt.Errorf("the counts do not add up: %d lines, %d in, %d matching, %d left", lines, s.TotalPut, s.TotalDone, s.Messages())
	case uint64(written) != s.TotalDone || uint64(received.Messages) != s.TotalDone:
		return fmt.Errorf("%d messages matched, but %d came to the file and %d to the webhook", s.TotalDone, written, received.Messages)
	}
	return nil
}

// hopTable collects the hops of messages at some sinks.
type hopTable struct {
	nodes map[string]bool
	hops  [message.HopCount]*measure.Histogram
	whole *measure.Histogram
}

func newHopTable(nodes ...string) *hopTable {
	t := &hopTable{nodes: map[string]bool{}, whole: measure.NewHistogram()}
	for _, n := range nodes {
		t.nodes[n] = true
	}
	for i := range t.hops {
		t.hops[i] = measure.NewHistogram()
	}
	return t
}

// Message implements pipeline.Observer.
func (t *hopTable) Message(m *message.Message, node string, o component.Outcome) {
	if !t.nodes[node] || o.Verdict != component.Delivered {
		return
	}
	for i := range t.hops {
		if d, ok := m.Hops.Since(message.Hop(i)); ok {
			t.hops[i].Record(d)
		}
	}
	if first, last := m.Hops[message.Accepted], m.Hops[message.Settled]; first != 0 && last != 0 {
		t.whole.Record(time.Duration(last - first))
	}
}

func (t *hopTable) table() *measure.Table {
	right := func(n string) measure.Column { return measure.Column{Name: n, Align: measure.Right} }
	table := measure.NewTable(measure.Column{Name: "hop"}, right("p50"), right("p99"), right("max"), right("messages"))
	row := func(name string, h *measure.Histogram) {
		table.Row(name, measure.Duration(h.Quantile(0.5)), measure.Duration(h.Quantile(0.99)), measure.Duration(h.Max()), measure.Count(h.Count()))
	}
	for i := 1; i < message.HopCount; i++ {
		row(fmt.Sprintf("%s → %s", message.Hop(i-1), message.Hop(i)), t.hops[i])
	}
	row("the whole way", t.whole)
	return table
}
