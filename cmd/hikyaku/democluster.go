package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/measure"
)

const (
	leastKillEvery = time.Second
	mostKillEvery  = time.Hour
	lookEvery      = 200 * time.Millisecond
	// readyWithin is how long the nodes may take to find their first owner, and readers to get the next message of
	// those that are left.
	readyWithin = time.Minute
)

// clusterDemo is three nodes in processes of their own, with clients, whose owner is killed again and again.
type clusterDemo struct {
	last, every time.Duration
	keep        bool
	out         io.Writer
	screen      *os.File // the live tables go there; nil: nowhere
	shown       int      // lines of them

	dir     string
	members members
	nodes   map[string]*demoNode
	doors   []*demoDoor
	book    *demoBook
	begun   time.Time
}

// demoNode is `hikyaku serve` with a configuration.
type demoNode struct {
	config, log string
	address     map[string]string // of its doors
	cmd         *exec.Cmd         // nil: it does not run
}

func newDemoCluster() *cobra.Command {
	var d clusterDemo
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Three nodes on loopback whose owner is killed again and again, and the ledger of it",
		Long: `Starts three nodes of a cluster (docs/cluster.md) as processes on this machine, and a writer and a reader at each of
the doors HTTP, SQS, Pub/Sub and MySQL, which go to the next node when one fails. Every --kill-every the node that owns
the shard is killed as kill -9 does; another one takes over in a new term, and the killed one is started again in half
of that time. Nothing leaves this machine.

A terminal shows the nodes, and of each door how many messages were put, acknowledged and taken, how many requests
failed (their clients try again), and the longest silence: how long nothing was acknowledged at a time. At the end
stands the ledger. Each message that was acknowledged to its writer has to come to a reader; if one does not, it is lost
and the exit status is 1. Of what was put and not acknowledged nothing is promised, and what was taken just before a
kill may come again.`,
		Example: `  hikyaku demo cluster
  hikyaku demo cluster --for 10m --kill-every 10s
  hikyaku demo cluster --for 20s --keep          # look at the logs and the journals afterwards`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if d.every < leastKillEvery || d.every > mostKillEvery {
				return &usageError{fmt.Errorf("--kill-every %v is not between %v and %v", d.every, leastKillEvery,
					mostKillEvery), "try 5s"}
			}
			if d.last < d.every {
				return &usageError{fmt.Errorf("--for %v is shorter than --kill-every %v: nothing would be killed",
					d.last, d.every), "try 1m"}
			}
			d.out = cmd.OutOrStdout()
			if term.IsTerminal(int(os.Stderr.Fd())) {
				d.screen = os.Stderr
			}
			if d.dir, err = os.MkdirTemp("", "hikyaku-demo-"); err != nil {
				return err
			}
			err = d.run(cmd.Context())
			if d.keep {
				_, said := fmt.Fprintf(cmd.ErrOrStderr(), "configurations, logs and journals are in %s\n", d.dir)
				return errors.Join(err, said)
			}
			return errors.Join(err, os.RemoveAll(d.dir))
		},
	}
	cmd.Flags().DurationVar(&d.last, "for", time.Minute, "how long there are writers")
	cmd.Flags().DurationVar(&d.every, "kill-every", 5*time.Second, "how often the owner is killed")
	cmd.Flags().BoolVar(&d.keep, "keep", false, "leave the folder with configurations, logs and journals there")
	return cmd
}

func (d *clusterDemo) run(ctx context.Context) error {
	d.doors, d.book = demoDoors(), newDemoBook()
	defer d.killAll()
	if err := d.startAll(ctx); err != nil {
		return err
	}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "three nodes in %s; a writer and a reader at each of %d doors\n", d.dir, len(d.doors))
	d.begun = time.Now()
	d.book.begin(d.begun)
	writing, endWriters := context.WithCancel(ctx)
	reading, endReaders := context.WithCancel(ctx)
	var writers, readers sync.WaitGroup
	defer func() {
		endWriters()
		endReaders()
		writers.Wait()
		readers.Wait()
	}()
	for i, door := range d.doors {
		at := d.addresses(door.name)
		writers.Go(func() { door.work(writing, d.book, at, i, door.write) })
		readers.Go(func() { door.work(reading, d.book, at, i+1, door.read) })
	}
	err := d.killing(ctx)
	endWriters()
	writers.Wait()
	d.book.end(time.Now())
	if err == nil {
		err = d.drain(ctx)
	}
	endReaders()
	readers.Wait()
	d.wipe()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %s: %w", measure.Duration(time.Since(d.begun)), context.Canceled)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	if err := d.book.table(d.doors).WriteText(d.out); err != nil {
		return err
	}
	return d.book.account(d.out)
}

// killing kills the owner and starts it again, until the time is over.
func (d *clusterDemo) killing(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var down string // the node that is killed
	killed := d.begun
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now, all := time.Now(), d.ask(ctx)
		if line := d.book.owned(all.Owner); line != "" {
			d.say(line)
		}
		over := now.Sub(d.begun) >= d.last
		if down != "" && (over || now.Sub(killed) >= d.every/2) {
			if err := d.start(ctx, down); err != nil {
				return err
			}
			down = ""
		}
		if over && !d.book.waits() {
			return nil
		}
		if now.Sub(killed) > d.every+readyWithin {
			return fmt.Errorf("nobody took the shard over within %v\n%s", readyWithin,
				said(d.nodes["a"].log, 0))
		}
		d.draw(&all)
		owner := d.nodes[all.Owner.Node]
		if over || down != "" || owner == nil || owner.cmd == nil || d.book.waits() || now.Sub(killed) < d.every {
			continue
		}
		down, killed = all.Owner.Node, now
		d.book.killed(down, now)
		owner.kill()
	}
}

// drain waits until everything that was acknowledged is taken, or nothing more comes.
func (d *clusterDemo) drain(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	left, since := -1, time.Now()
	for {
		_, n := d.book.sum()
		if n == 0 || n == left && time.Since(since) > readyWithin {
			return nil
		}
		if n != left {
			left, since = n, time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			all := d.ask(ctx)
			d.draw(&all)
		}
	}
}

// ask asks all nodes how they are, and has nobody wait long for one that does not answer.
func (d *clusterDemo) ask(ctx context.Context) clusterStatus {
	ctx, end := context.WithTimeout(ctx, time.Second)
	defer end()
	return d.members.ask(ctx)
}

// startAll makes the nodes' configurations, and starts them.
func (d *clusterDemo) startAll(ctx context.Context) error {
	if err := d.configure(); err != nil {
		return err
	}
	for _, n := range d.members.names() {
		if err := d.start(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// configure makes the nodes' configurations, and reads one. Their secret is of this demo alone: whoever knows it has
// the rights of the account that runs the demo, and other accounts of this machine reach the nodes' ports.
func (d *clusterDemo) configure() error {
	d.nodes = map[string]*demoNode{}
	names, peers, secret := []string{"a", "b", "c"}, []string{}, rand.Text()+rand.Text()
	for _, n := range names {
		node := &demoNode{config: filepath.Join(d.dir, n+".yaml"), log: filepath.Join(d.dir, n+".log")}
		all, err := freeport.Find(1 + len(d.doors))
		if err != nil {
			return err
		}
		peers = append(peers, fmt.Sprintf("%s: %q", n, all[0]))
		node.address = map[string]string{}
		for i, door := range d.doors {
			node.address[door.name] = all[1+i]
		}
		d.nodes[n] = node
	}
	for _, n := range names {
		text := fmt.Sprintf("data_dir: %q\ncluster: { name: demo, node: %s, secret: %s, peers: { %s } }\napi:\n",
			filepath.ToSlash(filepath.Join(d.dir, "data-"+n)), n, secret, strings.Join(peers, ", "))
		for _, door := range d.doors {
			text += fmt.Sprintf("  %s: { listen: %q%s }\n", door.name, d.nodes[n].address[door.name], door.settings)
		}
		text += "  lambda: { off: true }\nqueues:\n  jobs: { lease: 2s }\n  letters: { lease: 2s }\n" +
			"  entries: { columns: [\"id varchar(40) not null\"] }\n"
		if err := os.WriteFile(d.nodes[n].config, []byte(text), 0o600); err != nil {
			return err
		}
	}
	d.members.config = d.nodes[names[0]].config
	return d.members.open()
}

// start starts a node; its end is that of ctx, or kill.
func (d *clusterDemo) start(ctx context.Context, name string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	n := d.nodes[name]
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	cmd := exec.CommandContext(ctx, program, "serve", "-c", n.config)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start node %s: %w", name, err)
	}
	n.cmd = cmd
	return nil
}

// kill ends a node as kill -9 does, and waits until it is gone.
func (n *demoNode) kill() {
	if n.cmd != nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait() // killed: there is nothing to learn from it
		n.cmd = nil
	}
}

func (d *clusterDemo) killAll() {
	for _, n := range d.nodes {
		n.kill()
	}
}

func (d *clusterDemo) addresses(door string) (all []string) {
	for _, n := range d.members.names() {
		all = append(all, d.nodes[n].address[door])
	}
	return all
}

// prepare waits until somebody owns the shard, and has him make what the clients need.
func (d *clusterDemo) prepare(ctx context.Context) error {
	within, end := context.WithTimeout(ctx, readyWithin)
	defer end()
	for {
		err := prepareDemo(within, d.nodes["a"].address["http"])
		if err == nil {
			return nil
		}
		if pause(within, lookEvery); within.Err() != nil {
			return errors.Join(ctx.Err(), fmt.Errorf("the nodes were not ready within %v: %w\n%s", readyWithin, err,
				said(d.nodes["a"].log, 0)))
		}
	}
}

// say prints a line above the live tables.
func (d *clusterDemo) say(line string) {
	d.wipe()
	fmt.Fprintf(d.out, "%7s  %s\n", time.Since(d.begun).Round(time.Second/10), line)
}

// wipe takes the live tables away.
func (d *clusterDemo) wipe() {
	if d.screen != nil {
		rewind(d.screen, d.shown)
		d.shown = 0
	}
}

// draw shows on a terminal how things stand.
func (d *clusterDemo) draw(all *clusterStatus) {
	if d.screen == nil {
		return
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "\n%s of %v\n\n", time.Since(d.begun).Round(time.Second), d.last)
	t := measure.NewTable(measure.Column{Name: "node"}, measure.Column{Name: "state"}, right("term"))
	for _, n := range all.Nodes {
		state, term := "away", ""
		if n.Status != nil {
			state, term = all.state(n.Status), measure.Count(int64(n.Status.Owner.Term))
		}
		t.Row(n.Node, state, term)
	}
	_ = t.WriteText(&text) // into memory
	text.WriteByte('\n')
	_ = d.book.table(d.doors).WriteText(&text)
	d.wipe()
	d.shown = bytes.Count(text.Bytes(), []byte("\n"))
	_, _ = d.screen.Write(text.Bytes()) // nothing depends on it
}
