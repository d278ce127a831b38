//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
)

// clusterFaults is how many faults a cluster goes through, unless -faults says it.
const clusterFaults = 12

var faultsFlag = flag.String("faults", "", "how many faults a cluster goes through, or for how long: 1000, 2h. All "+
	"kinds of them then, one after the other in random order")

var kindsFlag = flag.String("kinds", "", "only kinds of faults whose names match: 'disk|bit'")

// nodes is a cluster of three processes.
type nodes struct {
	t     *testing.T
	here  string
	names []string
	wires map[string]*wire // from node to node, by both names

	configs map[string]string
	book    *promises
	random  *rand.Rand
	lives   map[string]*life
	tally   tally
	told    *historians
	small   string          // the node with a disk of its own, which can be full
	disk    string          // where that is
	spoilt  map[string]bool // nodes that have damage which they do not know yet
}

// nodeDisk is how much the disk of one node has.
const nodeDisk = 192 << 20

// life is a process that is a node, with its clients.
type life struct {
	*served
	stop context.CancelFunc
	over *sync.WaitGroup
}

// newNodes makes a cluster, one of whose nodes has a disk of its own.
func newNodes(t *testing.T, random *rand.Rand, disk string) *nodes {
	t.Helper()
	ns := &nodes{t: t, here: t.TempDir(), names: []string{"a", "b", "c"}, wires: map[string]*wire{},
		configs: map[string]string{}, random: random, lives: map[string]*life{}, disk: disk, spoilt: map[string]bool{},
		book: newPromises(t), tally: tally{began: time.Now(), faults: map[string]int{},
			terms: map[string]time.Time{}}}
	write(t, filepath.Join(ns.here, "code.py"), recording)
	ns.small = ns.names[random.IntN(len(ns.names))]
	address := map[string]string{}
	for _, n := range ns.names {
		address[n] = freeAddress(t)
	}
	for _, n := range ns.names {
		peers := []string{}
		for _, o := range ns.names {
			at := address[o]
			if o != n {
				ns.wires[n+o] = newWire(t, at)
				at = ns.wires[n+o].address()
			}
			peers = append(peers, o+": "+at)
		}
		// Who owns the shard saves checkpoints as its segments are large, and each node keeps the log behind the older
		// of two: on the small disk, too.
		ns.configs[n] = allDoors(ns.here, ns.data(n), 1) + fmt.Sprintf("journal: { segment_bytes: %d }\n"+
			"cluster: { name: test, node: %s, listen: %q, "+
			"secret: 'a secret that three nodes of a test share', peers: { %s } }\n", nodeDisk/24, n, address[n],
			strings.Join(peers, ", "))
	}
	return ns
}

func (ns *nodes) data(node string) string {
	if node == ns.small {
		return filepath.Join(ns.disk, "data")
	}
	return filepath.Join(ns.here, "data-"+node)
}

// start starts nodes, and clients of all their doors.
func (ns *nodes) start(names ...string) {
	ns.t.Helper()
	for _, n := range names {
		ns.lives[n] = &life{served: serve(ns.t, ns.configs[n])}
		ns.join(n)
	}
}

// join has clients of all doors of a node.
func (ns *nodes) join(node string) {
	ns.t.Helper()
	ctx, stop := context.WithCancel(ns.t.Context())
	l := ns.lives[node]
	l.stop = stop
	l.over = putThroughAll(ctx, ns.t, l.served, ns.book, 5*time.Millisecond)
	takeFrom(ctx, l.over, l.served, ns.book, "jobs", "letters", "readers")
	rows := l.served.tables(ns.t)
	context.AfterFunc(ctx, func() { rows.Close() })
	takeRows(ctx, l.over, rows, ns.book)
	ns.told.doors.set(node, l.client)
}

// kill ends nodes as SIGKILL does.
func (ns *nodes) kill(names ...string) {
	for _, n := range names {
		l := ns.lives[n]
		l.served.kill()
		ns.leave(n)
	}
}

// leave ends the clients of a node whose process has ended.
func (ns *nodes) leave(node string) {
	l := ns.lives[node]
	if l.stop != nil {
		l.stop()
		l.over.Wait()
	}
	ns.look()
	ns.told.doors.set(node, nil)
	delete(ns.lives, node)
}

// clusterView is what `hikyaku cluster status` says.
type clusterView struct {
	Owner cluster.Owner
	Nodes []struct {
		Node   string
		Status *cluster.Status
	}
}

// command gives a command about the cluster.
func (ns *nodes) command(args ...string) result {
	ns.t.Helper()
	return hikyaku(ns.t, "", append([]string{"cluster", "-c", ns.config(ns.anyNode())}, args...)...)
}

// anyNode is one that is there, if one is.
func (ns *nodes) anyNode() string {
	for _, n := range ns.names {
		if ns.lives[n] != nil {
			return n
		}
	}
	return ns.names[0]
}

// config is the file of a node's configuration.
func (ns *nodes) config(node string) string {
	ns.t.Helper()
	path := filepath.Join(ns.here, node+".yaml")
	write(ns.t, path, ns.configs[node])
	return path
}

// status is how the cluster is, as far as its nodes answer.
func (ns *nodes) status() (all clusterView) {
	ns.t.Helper()
	_ = json.Unmarshal([]byte(ns.command("status", "--json").stdout), &all) // without an answer nobody owns it
	return all
}

// owner is the node that owns the shard; "": none does.
func (ns *nodes) owner() string {
	ns.t.Helper()
	if owner := ns.status().Owner.Node; ns.lives[owner] != nil {
		return owner
	}
	return ""
}

// progress waits until something more is acknowledged.
func (ns *nodes) progress() {
	ns.t.Helper()
	count := func() int {
		ns.book.mu.Lock()
		defer ns.book.mu.Unlock()
		return len(ns.book.acked)
	}
	before := count()
	until(ns.t, func() string {
		return fmt.Sprintf("messages are acknowledged again: %s%s", ns.book, ns.logs())
	}, func() bool { return count() >= before+20 })
	for _, n := range ns.names {
		switch l := ns.lives[n]; {
		case l.hasEnded() && ns.spoilt[n]:
			ns.t.Logf("node %s has found out that its log is damaged", n)
			ns.anew(n)
		case l.hasEnded():
			ns.t.Errorf("node %s has ended by itself: %s", n, l.log())
		}
	}
}

// logs are the last lines of what the nodes say.
func (ns *nodes) logs() (text string) {
	for n, l := range ns.lives {
		lines := strings.Split(l.log(), "\n")
		text += "\n" + n + ":\n" + strings.Join(lines[max(0, len(lines)-12):], "\n")
	}
	return text
}

// length is how long a test of faults goes on: a number of faults, or a time.
func length(t *testing.T) (faults int, most time.Duration) {
	t.Helper()
	if *faultsFlag == "" {
		return clusterFaults * *times, 0
	}
	if n, err := strconv.Atoi(*faultsFlag); err == nil {
		return n, 0
	}
	d, err := time.ParseDuration(*faultsFlag)
	if err != nil {
		t.Fatalf("-faults %s is neither a number nor a time", *faultsFlag)
	}
	return math.MaxInt, d
}

// TestWhatAClusterPromisedHoldsThroughFaults has clients of all doors at all nodes of a cluster, while bad things
// happen to the nodes and to the ways between them: nothing that was acknowledged is lost, and nothing that was settled
// comes back.
func TestWhatAClusterPromisedHoldsThroughFaults(t *testing.T) {
	disk, ok := ownDisk(t, nodeDisk)
	if !ok {
		return
	}
	random := newRandom(t)
	ns := newNodes(t, random, disk)
	for _, n := range ns.names {
		ns.lives[n] = &life{served: serve(t, ns.configs[n])}
	}
	until(t, func() string { return "a node owns the shard: " + ns.lives["a"].log() },
		func() bool { return ns.owner() != "" })
	ns.lives["a"].subscribeReaders(t)
	ns.told = writeHistory(t.Context(), newHistory(t, ns.takeovers), random, 50*time.Millisecond, ns.names...)
	for _, n := range ns.names {
		ns.join(n)
	}
	ns.progress()
	all := slices.Clone(kinds)
	if *faultsFlag != "" {
		all = append(all, longKinds...)
	}
	only, err := regexp.Compile(*kindsFlag)
	must(t, err)
	all = slices.DeleteFunc(all, func(k faultKind) bool { return !only.MatchString(k.name) })
	if len(all) == 0 {
		t.Fatalf("no kind of fault is like %q", *kindsFlag)
	}
	order := random.Perm(len(all))
	most, within := length(t)
	for i := 0; i < most && (within == 0 || time.Since(ns.tally.began) < within); i++ {
		ns.suffer(i+1, all[order[i%len(order)]])
	}
	for n := range ns.spoilt {
		ns.anew(n)
	}
	for _, l := range ns.lives {
		l.stop()
		l.over.Wait()
	}
	s := ns.lives["b"].served
	ns.told.end(s)
	ctx, stop := context.WithCancel(t.Context())
	var takers sync.WaitGroup
	takeFrom(ctx, &takers, s, ns.book, "jobs", "letters", "readers")
	s.giveRows(t, ns.book)
	untilWithin(t, 5*time.Minute+patience, func() string { return ns.book.String() + "\n" + s.log() }, func() bool {
		for id, hands := range written(t, filepath.Join(ns.here, "done")) {
			ns.book.handed(id, hands)
		}
		return len(ns.book.missing()) == 0
	})
	stop()
	takers.Wait()
	for _, door := range []string{"http", "sqs", "mysql", "pubsub", "lambda"} {
		if !ns.book.tried(door) {
			t.Errorf("nothing was acknowledged through the door %s", door)
		}
	}
	for _, n := range ns.names {
		ns.lives[n].served.stop(t)
	}
	t.Log(ns.tally.text(ns.book, ns.told.h))
}
