//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
)

// clusterFaults is how many faults a cluster goes through.
const clusterFaults = 12

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
}

// life is a process that is a node, with its clients.
type life struct {
	*served
	stop context.CancelFunc
	over *sync.WaitGroup
}

func newNodes(t *testing.T, random *rand.Rand) *nodes {
	t.Helper()
	ns := &nodes{t: t, here: t.TempDir(), names: []string{"a", "b", "c"}, wires: map[string]*wire{},
		configs: map[string]string{}, random: random, lives: map[string]*life{},
		book: &promises{t: t, acked: map[string]bool{}, seen: map[string]bool{}, over: map[string]time.Time{}}}
	write(t, filepath.Join(ns.here, "code.py"), recording)
	address := map[string]string{}
	for _, n := range ns.names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		address[n] = l.Addr().String()
		must(t, l.Close())
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
		ns.configs[n] = allDoors(ns.here, ns.data(n), 1) + fmt.Sprintf("cluster: { name: test, node: %s, listen: %q, "+
			"secret: 'a secret that three nodes of a test share', peers: { %s } }\n", n, address[n],
			strings.Join(peers, ", "))
	}
	return ns
}

func (ns *nodes) data(node string) string { return filepath.Join(ns.here, "data-"+node) }

// start starts nodes, and clients of all their doors.
func (ns *nodes) start(names ...string) {
	ns.t.Helper()
	for _, n := range names {
		s := serve(ns.t, ns.configs[n])
		ctx, stop := context.WithCancel(ns.t.Context())
		l := &life{served: s, stop: stop}
		ns.lives[n] = l
		l.over = putThroughAll(ctx, ns.t, s, ns.book, 5*time.Millisecond)
		takeFrom(ctx, l.over, s, ns.book, "jobs", "letters", "readers")
	}
}

// kill ends nodes as SIGKILL does.
func (ns *nodes) kill(names ...string) {
	for _, n := range names {
		l := ns.lives[n]
		l.served.kill()
		l.stop()
		l.over.Wait()
		delete(ns.lives, n)
	}
}

// owner is the node that owns the shard, as far as one of them knows; "": none does.
func (ns *nodes) owner() string {
	for _, n := range ns.names {
		if ns.lives[n] == nil {
			continue
		}
		path := filepath.Join(ns.here, n+".yaml")
		write(ns.t, path, ns.configs[n])
		r := hikyaku(ns.t, "", "cluster", "status", "-c", path, "--json")
		var all struct{ Owner cluster.Owner }
		if json.Unmarshal([]byte(r.stdout), &all) == nil && all.Owner.Node != "" && ns.lives[all.Owner.Node] != nil {
			return all.Owner.Node
		}
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
		text := fmt.Sprintf("messages are acknowledged again: %s", ns.book)
		for n, l := range ns.lives {
			lines := strings.Split(l.log(), "\n")
			text += "\n" + n + ":\n" + strings.Join(lines[max(0, len(lines)-12):], "\n")
		}
		return text
	}, func() bool { return count() >= before+20 })
}

// wiresOf are those from and to nodes, or only those to them.
func (ns *nodes) wiresOf(onlyTo bool, names ...string) (all []*wire) {
	for ends, w := range ns.wires {
		if slices.Contains(names, ends[1:]) != slices.Contains(names, ends[:1]) &&
			(!onlyTo || slices.Contains(names, ends[1:])) {
			all = append(all, w)
		}
	}
	return all
}

// fault does something bad for a while, and says what.
func (ns *nodes) fault(which int) string {
	ns.t.Helper()
	owner := ns.owner()
	if owner == "" {
		owner = ns.names[ns.random.IntN(3)]
	}
	others := slices.DeleteFunc(slices.Clone(ns.names), func(n string) bool { return n == owner })
	other := others[ns.random.IntN(2)]
	while := func(least, most time.Duration) { <-time.After(between(ns.random, least, most)) }
	cut := func(what string, ws []*wire) string {
		silent := ns.random.IntN(2) == 0
		for _, w := range ws {
			w.set(silent, !silent, false)
		}
		while(time.Second, 6*time.Second)
		for _, w := range ws {
			w.set(false, false, false)
		}
		return fmt.Sprintf("%s, silent: %t", what, silent)
	}
	stopped := func(n string) {
		ns.lives[n].signal(ns.t, syscall.SIGSTOP)
		while(200*time.Millisecond, 6*time.Second)
		ns.lives[n].signal(ns.t, syscall.SIGCONT)
	}
	switch which % 12 {
	case 0, 1:
		ns.kill(owner)
		while(0, 4*time.Second)
		ns.start(owner)
		return "kill the owner"
	case 2:
		ns.kill(other)
		while(0, 2*time.Second)
		ns.start(other)
		return "kill another"
	case 3:
		ns.kill(ns.names...)
		ns.start(ns.names...)
		return "kill all"
	case 4:
		ns.kill(owner, other)
		while(0, 4*time.Second)
		ns.start(owner, other)
		return "kill the owner and another"
	case 5:
		stopped(owner)
		return "stop the owner"
	case 6:
		stopped(other)
		return "stop another"
	case 7:
		return cut("the owner is alone", ns.wiresOf(false, owner))
	case 8:
		return cut("another is alone", ns.wiresOf(false, other))
	case 9:
		return cut("nothing reaches the owner", ns.wiresOf(true, owner))
	case 10: // one hears two who do not hear each other
		return cut("a bridge", []*wire{ns.wires[others[0]+others[1]], ns.wires[others[1]+others[0]]})
	default:
		ns.kill(other)
		must(ns.t, os.RemoveAll(ns.data(other)))
		ns.start(other)
		return "a lost disk"
	}
}

// TestWhatAClusterPromisedHoldsThroughFaults has clients of all doors at all nodes of a cluster, while bad things
// happen to the nodes and to the ways between them: nothing that was acknowledged is lost, and nothing that was settled
// comes back.
func TestWhatAClusterPromisedHoldsThroughFaults(t *testing.T) {
	random := newRandom(t)
	ns := newNodes(t, random)
	for _, n := range ns.names {
		ns.lives[n] = &life{served: serve(t, ns.configs[n])}
	}
	until(t, func() string { return "a node owns the shard: " + ns.lives["a"].log() },
		func() bool { return ns.owner() != "" })
	ns.lives["a"].subscribeReaders(t)
	for _, l := range ns.lives {
		ctx, stop := context.WithCancel(t.Context())
		l.stop = stop
		l.over = putThroughAll(ctx, t, l.served, ns.book, 5*time.Millisecond)
		takeFrom(ctx, l.over, l.served, ns.book, "jobs", "letters", "readers")
	}
	order := random.Perm(12)
	for i := range clusterFaults * *times {
		ns.progress()
		what := ns.fault(order[i%len(order)])
		if t.Failed() {
			t.Fatalf("after %d faults, the last one: %s", i+1, what)
		}
		t.Logf("fault %d: %s; %s", i+1, what, ns.book)
	}
	ns.progress()
	for _, l := range ns.lives {
		l.stop()
		l.over.Wait()
	}
	s := ns.lives["b"].served
	ctx, stop := context.WithCancel(t.Context())
	var takers sync.WaitGroup
	takeFrom(ctx, &takers, s, ns.book, "jobs", "letters", "readers")
	s.giveRows(t, ns.book)
	untilWithin(t, 5*time.Minute+patience, func() string { return ns.book.String() + "\n" + s.log() }, func() bool {
		for id := range written(t, filepath.Join(ns.here, "done")) {
			ns.book.given(time.Now(), id)
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
	t.Log(ns.book)
	for _, n := range ns.names {
		ns.lives[n].served.stop(t)
	}
}
