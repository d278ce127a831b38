package replica_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// another is a node whose configuration names all others too; theirs do not name it.
func another(t *testing.T, name string, all []*node) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{name: name, dir: t.TempDir(), address: l.Addr().String()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		n.peers = append(n.peers, link.Peer{Node: o.name, Address: o.address})
	}
	t.Cleanup(func() { n.stop(t) })
	return n
}

// atOwner has the owner do something, whoever it is meanwhile, and returns what it says.
func atOwner(t *testing.T, all []*node, do func(*replica.Replica) error) (err error) {
	t.Helper()
	waittest.Until(t, "an owner answers", func() bool {
		for _, n := range all {
			if n.r == nil {
				continue
			}
			if err = do(n.r); !errors.Is(err, cluster.ErrNotOwner) {
				return true
			}
		}
		return false
	})
	return err
}

func join(t *testing.T, all []*node, n *node) {
	t.Helper()
	if err := atOwner(t, all, func(r *replica.Replica) error {
		return r.Join(t.Context(), link.Peer{Node: n.name, Address: n.address})
	}); err != nil {
		t.Fatal(err)
	}
}

func leave(t *testing.T, all []*node, name string) error {
	return leaveWithin(t, all, name, time.Minute)
}

func leaveWithin(t *testing.T, all []*node, name string, most time.Duration) error {
	t.Helper()
	return atOwner(t, all, func(r *replica.Replica) error {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		return r.Leave(ctx, name)
	})
}

// partOf is what a node is for another one; "": nobody that it knows.
func (n *node) partOf(name string) cluster.Part {
	for _, m := range n.r.Status().Members {
		if m.Node == name {
			return m.Part
		}
	}
	return ""
}

// mustVote waits until all nodes know that one has a vote.
func mustVote(t *testing.T, all []*node, n *node) {
	t.Helper()
	waittest.Until(t, "node "+n.name+" has a vote", func() bool {
		for _, o := range all {
			if o.r != nil && o.partOf(n.name) != cluster.Votes {
				return false
			}
		}
		return true
	})
}

// mustEnd waits until a node has ended by itself, and returns why.
func mustEnd(t *testing.T, n *node) error {
	t.Helper()
	var err error
	waittest.Until(t, "node "+n.name+" ends", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var j journal.Journal
		if j, _, err = n.r.Own(ctx); j != nil {
			t.Errorf("node %s owns the log", n.name)
		}
		return err != nil && ctx.Err() == nil
	})
	return err
}

// without are the nodes but for one.
func without(all []*node, n *node) (rest []*node) {
	for _, o := range all {
		if o != n {
			rest = append(rest, o)
		}
	}
	return rest
}

// writer puts messages at whoever owns the log, until it is stopped.
type writer struct {
	mu   sync.Mutex
	all  []*replica.Replica
	acks map[uint64]bool
	stop func()
}

func replicas(all []*node) (rs []*replica.Replica) {
	for _, n := range all {
		rs = append(rs, n.r)
	}
	return rs
}

func newWriter(t *testing.T, all []*node) *writer {
	w := &writer{all: replicas(all), acks: map[uint64]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	w.stop = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		for n := uint64(1); ctx.Err() == nil; {
			w.mu.Lock()
			all := w.all
			w.mu.Unlock()
			for _, r := range all {
				n = w.put(ctx, r, n)
			}
		}
	}()
	return w
}

// put puts messages from n on at a node while that owns the log, and returns the number of the next.
func (w *writer) put(ctx context.Context, r *replica.Replica, n uint64) uint64 {
	some, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	j, _, err := r.Own(some)
	cancel()
	if err != nil {
		return n
	}
	for ; err == nil && ctx.Err() == nil; n++ {
		done := make(chan error, 1)
		err = j.Append([]journal.Record{{Life: journal.Lasting, Sequence: n, Body: make([]byte, 100)}},
			func(_ journal.Position, err error, _ int) { done <- err })
		if err == nil {
			err = <-done
		}
		if err == nil {
			w.mu.Lock()
			w.acks[n] = true
			w.mu.Unlock()
		}
	}
	_ = j.Close() // it was lost, or the test ends
	return n
}

// nodes has the writer go to these from now on, and waits until some messages more are acknowledged.
func (w *writer) nodes(t *testing.T, all []*node) {
	t.Helper()
	w.mu.Lock()
	w.all = replicas(all)
	before := len(w.acks)
	w.mu.Unlock()
	waittest.Until(t, "messages are acknowledged", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.acks) > before+20
	})
}

// mustBeIn fails unless a log has all that was acknowledged.
func (w *writer) mustBeIn(t *testing.T, j journal.Journal) {
	t.Helper()
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		delete(w.acks, g.Records[0].Sequence)
	}
	if len(w.acks) > 0 {
		t.Errorf("%d messages that were acknowledged are lost", len(w.acks))
	}
}

func TestNodesJoinAndLeaveWhileMessagesArePut(t *testing.T) {
	all := three(t)
	startAll(t, all)
	w := newWriter(t, all)
	defer w.stop()
	for _, name := range []string{"d", "e"} {
		n := another(t, name, all)
		join(t, all, n)
		if name == "d" { // nothing depends on one that has not come
			w.nodes(t, all)
		}
		if err := n.start(t); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
		mustVote(t, all, n)
		join(t, all, n) // once more
		w.nodes(t, all)
	}
	// One that does not own the log, and then the one that does.
	for _, owns := range []bool{false, true} {
		var who *node
		waittest.Until(t, "somebody owns the log", func() bool {
			for _, n := range all {
				if (n.r.Owner().Node == n.name) == owns {
					who = n
				}
			}
			return who != nil
		})
		if err := leave(t, all, who.name); err != nil {
			t.Fatal(err)
		}
		all = without(all, who)
		w.nodes(t, all)
		if err := leave(t, all, who.name); err != nil { // once more
			t.Error(err)
		}
		if err := mustEnd(t, who); !strings.Contains(err.Error(), "has left the cluster") {
			t.Error(err)
		}
		who.stop(t)
	}
	w.stop()
	_, j := ownerOf(t, all)
	w.mustBeIn(t, j)
	for _, n := range all {
		if got := n.r.Status().Members; len(got) != 3 {
			t.Errorf("node %s knows %v", n.name, got)
		}
	}
}

func TestANodeThatHasLeftDoesNoHarmWhenItComesBack(t *testing.T) {
	all := three(t)
	startAll(t, all)
	mustOwn(t, all, all[0])
	_, j := ownerOf(t, all)
	put(t, j, 1)
	c, rest := all[2], all[:2]
	c.stop(t)
	if err := leave(t, rest, c.name); err != nil {
		t.Fatal(err)
	}
	put(t, j, 2)
	term := all[0].r.Owner().Term
	if err := c.start(t); err != nil {
		t.Fatal(err)
	}
	if err := mustEnd(t, c); !strings.Contains(err.Error(), "node c has left the cluster") ||
		!strings.Contains(err.Error(), "remove "+c.dir) {
		t.Error(err)
	}
	c.stop(t)
	put(t, j, 3)
	if now := all[0].r.Owner(); now.Term != term || now.Node != "a" {
		t.Errorf("the owner is %+v, and was node a in term %d", now, term)
	}
	// As it says. Without the command it is not taken in.
	if err := os.RemoveAll(c.dir); err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() { started <- c.start(t) }()
	put(t, j, 4)
	waittest.Until(t, "nobody knows it", func() bool { return rest[0].partOf("c") == "" && rest[1].partOf("c") == "" })
	join(t, rest, c)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	mustVote(t, all, c)
	mustOwn(t, all, c)
	_, j = ownerOf(t, all)
	mustHave(t, j, 4)
}

func TestANodeThatNobodyHasTakenInIsNotTakenIn(t *testing.T) {
	all := three(t)
	startAll(t, all)
	ownerOf(t, all)
	d := another(t, "d", all)
	l, err := link.Listen(t.Context(), link.Options{Listen: d.address, Cluster: "test", Node: d.name, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	refused := 0
	waits := func(err error) {
		if strings.Contains(err.Error(), "hikyaku cluster join d") {
			refused++
		}
		if refused == 3 { // it asks again and again; what it was answered is what it says in the end
			cancel()
		}
	}
	r, err := replica.Open(ctx, replica.Options{Node: d.name, Peers: d.peers, Link: l, Dir: d.dir, Waits: waits})
	if err == nil {
		err = r.Close()
		t.Error("it takes part")
	}
	if err == nil || !strings.Contains(err.Error(), "hikyaku cluster join d") {
		t.Error(err)
	}
	if s := all[0].r.Status(); len(s.Members) != 3 {
		t.Errorf("%+v", s.Members)
	}
}

// A leader forgets for a moment, once in each election's time, of whom it has heard.
func TestANodeThatIsThereKeepsItsPlaceHoweverOftenAnotherOneAsksForIt(t *testing.T) {
	all := three(t)
	startAll(t, all)
	mustOwn(t, all, all[0])
	waittest.Until(t, "node a hears of node c", func() bool {
		return slices.ContainsFunc(all[0].r.Status().Members, func(m cluster.MemberView) bool {
			return m.Node == "c" && m.Alive
		})
	})
	d, err := link.NewDialer(link.Options{Cluster: "test", Node: "c", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	for range 1500 {
		c, err := d.Dial(t.Context(), link.Peer{Node: "a", Address: all[0].address}, "member")
		if err != nil {
			t.Fatal(err)
		}
		question := fmt.Sprintf(`{"replace":%d}`, uint64(crc32.ChecksumIEEE([]byte("c")))<<32|2)
		var told struct{ Refused string }
		if _, err := io.WriteString(c, question); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(json.NewDecoder(c).Decode(&told), c.NetConn().Close()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(told.Refused, "do two nodes have this name?") {
			t.Fatal(told.Refused)
		}
	}
}

func TestANodeHearsOfThoseThatJoinedWhileItWasAway(t *testing.T) {
	all := three(t)
	startAll(t, all)
	_, j := ownerOf(t, all)
	put(t, j, 1)
	mustOwn(t, all, all[0])
	c := all[2]
	c.stop(t)
	d := another(t, "d", all)
	join(t, all, d)
	if err := d.start(t); err != nil {
		t.Fatal(err)
	}
	now := append(all[:2:2], d)
	mustVote(t, now, d)
	mustOwn(t, now, d)
	_, j = ownerOf(t, now)
	put(t, j, 2)
	if err := c.start(t); err != nil { // its configuration does not name the owner
		t.Fatal(err)
	}
	waittest.Until(t, "it knows the owner", func() bool { return c.r.Owner().Node == "d" })
	if at := c.r.Owner().Address; at != d.address {
		t.Errorf("the owner is at %s, and not at %s", d.address, at)
	}
	mustOwn(t, append(all, d), c)
	_, j = ownerOf(t, append(all, d))
	mustHave(t, j, 2)
}

func TestANodeThatIsDeadIsTakenOutAndReplaced(t *testing.T) {
	all := three(t)
	startAll(t, all)
	mustOwn(t, all, all[1])
	_, j := ownerOf(t, all)
	all[0].stop(t)
	rest := all[1:]
	if err := leave(t, rest, "a"); err != nil {
		t.Fatal(err)
	}
	put(t, j, 1)
	d := another(t, "d", rest)
	join(t, rest, d)
	if err := d.start(t); err != nil {
		t.Fatal(err)
	}
	rest = append(rest, d)
	mustVote(t, rest, d)
	rest[1].stop(t) // three have a vote again
	put(t, j, 2)
	mustHave(t, j, 2)
}

func TestANodeDoesNotLeaveThoseThatCannotGoOn(t *testing.T) {
	all := three(t)
	startAll(t, all)
	mustOwn(t, all, all[0])
	_, j := ownerOf(t, all)
	b := all[1]
	b.stop(t)
	refused := func(wants string) {
		t.Helper()
		for _, who := range []string{"c", "a"} {
			err := leaveWithin(t, all, who, time.Second)
			if err == nil || !strings.Contains(err.Error(), "node "+who+" cannot leave") ||
				!strings.Contains(err.Error(), wants) {
				t.Errorf("node %s: %v, want %q", who, err, wants)
			}
		}
	}
	refused("node b")
	// It is there, and has not caught up.
	l, err := link.Listen(t.Context(), link.Options{Listen: b.address, Cluster: "test", Node: b.name, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	l.Handle("member", func(_ context.Context, _ string, c net.Conn) {
		_ = json.NewEncoder(c).Encode(map[string]any{"exists": true, "id": 1, "applied": 1})
	})
	refused("node b: it has the log up to 1 of ")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, j, 1)
	if err := b.start(t); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"a", "b"} {
		if err := leave(t, all, who); err != nil {
			t.Fatal(err)
		}
	}
	if err := leave(t, all, "c"); err == nil || !strings.Contains(err.Error(), "the last one") {
		t.Error(err)
	}
	_, j = ownerOf(t, all[2:])
	mustHave(t, j, 1)
}

func TestWhoCannotJoinIsRefused(t *testing.T) {
	all := three(t)
	startAll(t, all)
	mustOwn(t, all, all[0])
	for wants, p := range map[string]link.Peer{
		"it has to be the same at all nodes": {Node: "b", Address: "127.0.0.1:1"},
		"is the address of node b":           {Node: "d", Address: all[1].address},
		"a name has 1 to 64 letters":         {Node: "d e", Address: "127.0.0.1:1"},
		// Both have the same sum, by which replicas are told apart.
		"the log cannot tell node codding from node gnu": {Node: "codding", Address: "127.0.0.1:1"},
	} {
		err := atOwner(t, all, func(r *replica.Replica) error {
			if err := r.Join(t.Context(), link.Peer{Node: "gnu", Address: "127.0.0.1:2"}); err != nil {
				return err
			}
			return r.Join(t.Context(), p)
		})
		if err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%v, want %q", err, wants)
		}
	}
	if err := leave(t, all, "f"); err == nil || !strings.Contains(err.Error(), `no node "f"`) {
		t.Error(err)
	}
	if err := leave(t, all, "gnu"); err != nil { // it has never come
		t.Error(err)
	}
}

// Whichever node ends while a command is under way, the command is given again, and nothing is lost.
func TestNodesJoinAndLeaveWhicheverNodeEndsMeanwhile(t *testing.T) {
	all := three(t)
	startAll(t, all)
	w := newWriter(t, all)
	defer w.stop()
	draw := rand.New(rand.NewPCG(3, 4))
	for round := range 6 {
		who := all[draw.IntN(len(all))]
		victim := all[draw.IntN(len(all))]
		joins := round%2 == 0
		do := func(r *replica.Replica) error { return r.Leave(t.Context(), who.name) }
		if joins {
			who = another(t, string(rune('d'+round)), all)
			do = func(r *replica.Replica) error {
				return r.Join(t.Context(), link.Peer{Node: who.name, Address: who.address})
			}
		}
		var asking sync.WaitGroup
		for _, r := range replicas(all) { // whoever owns the log begins
			asking.Go(func() { _ = do(r) })
		}
		victim.stop(t)
		if err := victim.start(t); err != nil {
			t.Fatal(err)
		}
		asking.Wait()
		rest := all
		if !joins {
			rest = without(all, who)
		}
		waittest.Until(t, "the command is done", func() bool {
			return slices.ContainsFunc(all, func(n *node) bool { return do(n.r) == nil })
		})
		all = rest
		if joins {
			if err := who.start(t); err != nil {
				t.Fatal(err)
			}
			all = append(all, who)
			mustVote(t, all, who)
		} else {
			w.nodes(t, all)
			who.stop(t)
		}
		w.nodes(t, all)
	}
	w.stop()
	_, j := ownerOf(t, all)
	w.mustBeIn(t, j)
}
