// Engine asks whether NATS JetStream is fit to be the replicated log under hikyaku's store: real servers, faults, and a
// ledger of what was acknowledged.
//
//	go run . -fault kill,powercut -rounds 50 -seed 1     rounds of these faults, each apart, and a table
//	go run . -syncs                                      which syncs stand before an acknowledgement
//	go run . -measure -dir /var/tmp                      how fast fenced appends are on that disk
//
// It wants Linux, root, iproute2, e2fsprogs and util-linux (and strace for -syncs), and builds the server that go.mod
// pins. Everything runs in name spaces of its own and ends with it. docs/testing.md has more.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	nodesMost = 5
	inside    = "ENGINE_INSIDE" // set in the process that runs in the name spaces: where the server's program is
)

type settings struct {
	faults, dir, keep            string
	rounds, nodes, window, fresh int
	seed                         uint64
	syncs, measure               bool
	longest, pause               time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.faults, "fault", "kill", "the kinds of faults, with commas: none, kill, stop, partition, "+
		"powercut, flip, rot, disk, leader, member, mixed")
	flag.StringVar(&s.dir, "dir", "/dev/shm", "where stores and images of disks are made")
	flag.StringVar(&syncInterval, "sync", "always", "the servers' sync_interval; with 2m, their default, power cuts "+
		"have to lose records, or the trial could not find it")
	flag.Uint64Var(&largest, "largest", largest, "the bytes of the largest record, less 64; with 40000 a stream soon has "+
		"several files")
	flag.StringVar(&damaged, "damaged", "", "flip and rot damage only files with this in their path")
	flag.StringVar(&s.keep, "keep", "", "a folder for the logs of servers in rounds that found something")
	flag.IntVar(&s.rounds, "rounds", 10, "rounds of each fault")
	flag.IntVar(&s.nodes, "nodes", 3, "servers, 3 or 5; the stream has 3 replicas")
	flag.IntVar(&s.window, "window", 16, "records in flight")
	flag.IntVar(&s.fresh, "fresh", 8, "rounds on one cluster before a new one is made")
	flag.Uint64Var(&s.seed, "seed", 1, "draws the faults; what the servers do meanwhile is not drawn")
	flag.BoolVar(&s.syncs, "syncs", false, "look which syncs stand before an acknowledgement")
	flag.BoolVar(&s.measure, "measure", false, "measure fenced appends, on plain folders")
	flag.DurationVar(&s.longest, "longest", time.Hour, "begin no round after this time")
	flag.DurationVar(&s.pause, "pause", 2*time.Millisecond, "a writer's rest between two records")
	flag.Parse()
	var err error
	if server := os.Getenv(inside); server == "" {
		err = enter()
	} else if err = prepareSpaces(nodesMost); err == nil {
		err = s.run(server)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// enter builds the server and runs this program once more in name spaces of its own. The kernel ends all that is in
// them with it.
func enter() error {
	dir, err := os.MkdirTemp("", "engine-server-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server := filepath.Join(dir, "nats-server")
	if err := run("go", "build", "-o", server, "github.com/nats-io/nats-server/v2"); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"="+server)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	return cmd.Run()
}

func (s *settings) run(server string) error {
	dir, err := os.MkdirTemp(s.dir, "engine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.measure || s.syncs {
		return s.look(server, dir)
	}
	began := time.Now()
	var table strings.Builder
	for _, kind := range strings.Split(s.faults, ",") {
		if faults[kind] == nil {
			return fmt.Errorf("no fault is called %q", kind)
		}
		t := &trial{settings: s, server: server, dir: dir, kind: kind, rnd: rand.New(rand.NewPCG(s.seed, 1))}
		for t.round < s.rounds && time.Since(began) < s.longest {
			if err := t.once(); err != nil {
				t.c.end()
				return fmt.Errorf("%s, round %d: %w", kind, t.round, err)
			}
		}
		if t.c != nil {
			t.acks += t.led.count()
			t.c.end()
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", kind, s.nodes, t.round,
			t.acks, t.bad, t.sum.lost, t.sum.doubled, t.sum.diverged, t.sum.altered, t.sum.stuck, t.sum.behind)
	}
	fmt.Printf("\n| fault | nodes | rounds | acknowledged | rounds with findings | lost | doubled | diverged "+
		"| altered | stuck | behind |\n|---|---|---|---|---|---|---|---|---|---|---|\n%s", table.String())
	return nil
}

// A trial is the rounds of one fault.
type trial struct {
	*settings
	server, dir, kind string
	rnd               *rand.Rand
	round, acks, bad  int
	used              int // rounds on this cluster
	c                 *cluster
	led               *ledger
	sum               tally
	numbers           atomic.Uint64
}

// once runs a round: two writers that take the log from each other, a fault, a minute at most until records are
// acknowledged and replicas are equal again, and the comparison of each replica with the ledger.
func (t *trial) once() (err error) {
	if t.c == nil {
		t.led, t.used = newLedger(), 0
		if t.c, err = newCluster(t.server, filepath.Join(t.dir, "c"), t.nodes, true, false); err != nil {
			return err
		}
		if err := t.c.create(); err != nil {
			return err
		}
	}
	t.round++
	t.used++
	lastDamage = ""
	began, before := time.Now(), t.led.count()
	stop := t.write(1 + t.rnd.IntN(2))
	defer stop()
	for t.led.count() < before+4*t.window && time.Since(began) < patient/4 {
		time.Sleep(10 * time.Millisecond)
	}
	between(t.rnd, 300, 1500)
	if err := faults[t.kind](t.c, t.rnd); err != nil {
		return err
	}
	var found tally
	for _, nd := range t.c.nodes { // a server that ended by itself is started again, as an operator's system would
		if !nd.runs() {
			found.note("the server of %s has ended by itself", nd.name)
			if err := t.c.start(nd); err != nil {
				return err
			}
		}
	}
	healed, had := time.Now(), t.led.count()
	progress := func() bool { return t.led.count() >= had+2*t.window }
	for !progress() && time.Since(healed) < patient {
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	leader, names, equal := t.c.settled()
	if !equal { // are there two logs?
		stop = t.write(4)
		time.Sleep(patient / 6)
		stop()
	}
	if !progress() {
		found.stuck++
	} else if !equal {
		found.behind++
	}
	if !found.clean() {
		found.note("leader %q of %v", leader, names)
		for _, nd := range t.c.nodes {
			v, err := nd.look()
			found.note("%s says %+v %v", nd.name, v, err)
		}
	}
	if len(names) == 0 { // who knows? read all
		for _, nd := range t.c.nodes {
			names = append(names, nd.name)
		}
	}
	found.add(t.compare(leader, names))
	found.behind = min(found.behind, 1)
	if found.diverged > 0 {
		t.lead(names, &found)
	}
	if lastDamage != "" {
		found.notes = append(found.notes, "damaged: "+lastDamage)
	}
	fmt.Printf("%s seed %d round %d: %d acknowledged, %.1f s, lost %d, doubled %d, diverged %d, altered %d, stuck %d, "+
		"behind %d\n", t.kind, t.seed, t.round, t.led.count()-before, time.Since(began).Seconds(), found.lost,
		found.doubled, found.diverged, found.altered, found.stuck, found.behind)
	for _, n := range found.notes {
		fmt.Println("   ", n)
	}
	t.sum.add(found)
	clean := found.clean()
	if !clean {
		t.bad++
		if t.keep != "" {
			to := filepath.Join(t.keep, fmt.Sprintf("%s-%d-%d", t.kind, t.seed, t.round))
			_ = run("sh", "-c", `mkdir -p "$2" && cp -r "$1"/*.log "$2" && for d in "$1"/n?; do cp -r $d "$2"; done`,
				"sh", t.c.dir, to)
		}
	}
	if !clean || t.used >= t.fresh {
		t.acks += t.led.count()
		t.c.end()
		t.c = nil
	}
	return nil
}

// lead makes each replica the leader in turn, and adds what is lost when that one speaks for all.
func (t *trial) lead(names []string, found *tally) {
	for _, name := range names {
		ask := map[string]any{"placement": map[string]string{"preferred": name}}
		for end := time.Now().Add(patient / 3); time.Now().Before(end); time.Sleep(time.Second) {
			if leader, _, ok := t.c.settled(); ok && leader == name {
				again := t.compare(name, names)
				found.lost += again.lost
				found.note("%s was made the leader: %d lost", name, again.lost)
				break
			}
			_ = t.c.tell("a", "STREAM.LEADER.STEPDOWN."+stream, ask, t.rnd)
		}
	}
}

// write starts writers, and returns what stops them.
func (t *trial) write(n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var writers sync.WaitGroup
	for range n {
		w := &writer{c: t.c, led: t.led, window: t.window, pause: t.pause,
			number: func() uint64 { return t.numbers.Add(1) }}
		r := rand.New(rand.NewPCG(t.rnd.Uint64(), 2))
		writers.Go(func() { w.write(ctx, r) })
	}
	return func() {
		cancel()
		writers.Wait()
	}
}

// compare reads each replica with all nodes cut off from each other.
func (t *trial) compare(leader string, names []string) (found tally) {
	defer t.c.heal()
	for _, a := range t.c.nodes {
		for _, b := range t.c.nodes {
			if a != b {
				if err := block(a, b); err != nil {
					found.note("%v", err)
				}
			}
		}
	}
	replicas, gone := map[string]map[uint64]record{}, 0
	for _, name := range names {
		nd := t.c.named(name)
		if nd == nil {
			continue
		}
		held, err := t.c.read(nd)
		if err == nil {
			replicas[name] = held
		} else {
			found.note("%s: %v", name, err)
		}
		if v, err := nd.look(); err == nil && !v.held {
			gone++
		}
	}
	if len(replicas) < len(names) {
		found.behind++
		found.note("read %d of %d replicas", len(replicas), len(names))
	}
	if replicas[leader] == nil {
		leader = ""
	}
	if len(replicas) > 0 || gone == len(t.c.nodes) { // else nobody can know what there still is
		found.add(t.led.check(leader, replicas))
	}
	return found
}
