package replica_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

const secret = "a secret of thirty-two characters or more"

// node is a node of a cluster in this process.
type node struct {
	name, dir string
	peers     []link.Peer
	address   string
	stall     time.Duration
	fs        file.FS
	link      *link.Listener
	r         *replica.Replica
}

// three are nodes with addresses that are free.
func three(t *testing.T) (all []*node) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &node{name: name, dir: t.TempDir(), address: l.Addr().String()})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range all {
		for _, o := range all {
			if o != n {
				n.peers = append(n.peers, link.Peer{Node: o.name, Address: o.address})
			}
		}
		t.Cleanup(func() { n.stop(t) })
	}
	return all
}

func (n *node) start(t *testing.T) error {
	t.Helper()
	l, err := link.Listen(t.Context(), link.Options{Listen: n.address, Cluster: "test", Node: n.name, Secret: secret})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := replica.Open(ctx, replica.Options{Node: n.name, Address: n.address, Peers: n.peers, Link: l,
		Dir: filepath.Join(n.dir, "cluster"), File: file.Options{SegmentBytes: 1 << 20, FS: n.fs},
		Tick:   20 * time.Millisecond,
		Report: func(err error) { t.Log(n.name, err) }, Stall: n.stall})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	n.link, n.r = l, r
	return nil
}

func (n *node) stop(t *testing.T) {
	t.Helper()
	if n.r == nil {
		return
	}
	if err := errors.Join(n.r.Close(), n.link.Close()); err != nil {
		t.Error(n.name, err)
	}
	n.r = nil
}

func startAll(t *testing.T, all []*node) {
	t.Helper()
	var starting sync.WaitGroup
	for _, n := range all {
		starting.Go(func() {
			if err := n.start(t); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// ownerOf waits for the node that owns the log, and opens it.
func ownerOf(t *testing.T, all []*node) (*node, journal.Journal) {
	t.Helper()
	var owner *node
	var j journal.Journal
	waittest.Until(t, "a node owns the log", func() bool {
		for _, n := range all {
			if n.r == nil || n.r.Owner().Node != n.name {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			got, _, err := n.r.Own(ctx)
			cancel()
			if err == nil {
				owner, j = n, got
				return true
			}
		}
		return false
	})
	return owner, j
}

func put(t *testing.T, j journal.Journal, n uint64) {
	t.Helper()
	done := make(chan error, 1)
	err := j.Append([]journal.Record{{Life: journal.Lasting, Sequence: n, Body: make([]byte, 1000)}},
		func(_ journal.Position, err error, _ int) { done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mustHave fails unless the log has the messages 1 to n.
func mustHave(t *testing.T, j journal.Journal, n uint64) {
	t.Helper()
	want := uint64(0)
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if want++; g.Records[0].Sequence != want {
			t.Fatalf("message %d stands where %d should", g.Records[0].Sequence, want)
		}
	}
	if want != n {
		t.Fatalf("the log has %d messages of %d", want, n)
	}
}

// mustOwn gives the log to a node, which may have to learn it first.
func mustOwn(t *testing.T, all []*node, n *node) {
	t.Helper()
	waittest.Until(t, "node "+n.name+" owns the log", func() bool {
		for _, o := range all {
			if o.r == nil {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := o.r.Transfer(ctx, n.name)
			cancel()
			if err == nil || n.r.Owner().Node == n.name {
				return true
			}
		}
		return false
	})
}

func TestALogIsThereWhenItsNodesAreStartedAgain(t *testing.T) {
	all := three(t)
	startAll(t, all)
	_, j := ownerOf(t, all)
	for n := range uint64(50) {
		put(t, j, n+1)
	}
	for _, n := range all {
		n.stop(t)
	}
	startAll(t, all)
	owner, j := ownerOf(t, all)
	mustHave(t, j, 50)
	if err := owner.r.Transfer(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := j.Health(); !errors.Is(err, journal.ErrLost) {
		t.Errorf("who gave the log away says %v", err)
	}
	_, j = ownerOf(t, all)
	mustHave(t, j, 50)
	put(t, j, 51)
}

func TestWhoHasGivenTheLogAwayKnowsWhoHasIt(t *testing.T) {
	all := three(t)
	startAll(t, all)
	for range 5 {
		owner, j := ownerOf(t, all)
		if err := owner.r.Transfer(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if o := owner.r.Status().Owner; o.Node == "" || o.Node == owner.name {
			t.Errorf("node %s has given it away, and says that %q has it", owner.name, o.Node)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestANodeThatHasLostItsDiskComesBackAsAnotherReplica(t *testing.T) {
	all := three(t)
	startAll(t, all)
	owner, j := ownerOf(t, all)
	for n := range uint64(20) {
		put(t, j, n+1)
	}
	var lost *node
	for _, n := range all {
		if n != owner {
			lost = n
		}
	}
	lost.stop(t)
	put(t, j, 21)
	if err := os.RemoveAll(lost.dir); err != nil {
		t.Fatal(err)
	}
	if err := lost.start(t); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "node "+lost.name+" keeps the log", func() bool { // on a slow machine another may take it at once
		mustOwn(t, all, lost)
		var now *node
		now, j = ownerOf(t, all)
		return now == lost
	})
	mustHave(t, j, 21)
	put(t, j, 22)
	// It has a vote: with one other it goes on.
	owner.stop(t)
	put(t, j, 23)
	mustHave(t, j, 23)
}

func TestALogIsThereWhenEveryNodeHasHadANewDiskAndAllAreStartedAgain(t *testing.T) {
	all := three(t)
	startAll(t, all)
	_, j := ownerOf(t, all)
	put(t, j, 1)
	for i, n := range all {
		n.stop(t)
		if err := os.RemoveAll(n.dir); err != nil {
			t.Fatal(err)
		}
		if err := n.start(t); err != nil {
			t.Fatal(err)
		}
		mustOwn(t, all, n)
		_, j = ownerOf(t, all)
		put(t, j, uint64(i+2))
	}
	for _, n := range all {
		n.stop(t)
	}
	startAll(t, all)
	_, j = ownerOf(t, all)
	mustHave(t, j, 4)
}

func TestANodeWhoseLogIsGoneButNotItsNameDoesNotBeginANewOne(t *testing.T) {
	all := three(t)
	startAll(t, all)
	owner, j := ownerOf(t, all)
	put(t, j, 1)
	var lost *node
	for _, n := range all {
		if n != owner {
			lost = n
		}
	}
	lost.stop(t)
	put(t, j, 2)
	dir := filepath.Join(lost.dir, "cluster")
	if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	if err := lost.start(t); err == nil || !strings.Contains(err.Error(), "remove "+dir) {
		t.Fatalf("a node without what others count on starts: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil { // as it says
		t.Fatal(err)
	}
	if err := lost.start(t); err != nil {
		t.Fatal(err)
	}
	mustOwn(t, all, lost)
	_, j = ownerOf(t, all)
	mustHave(t, j, 2)
}

func TestNodesThatHaveLostTheirDisksOneAfterTheOtherStartTogether(t *testing.T) {
	all := three(t)
	startAll(t, all)
	_, j := ownerOf(t, all)
	for n := range uint64(20) {
		put(t, j, n+1)
	}
	for _, lost := range all[1:] {
		lost.stop(t)
		if err := os.RemoveAll(lost.dir); err != nil {
			t.Fatal(err)
		}
		if err := lost.start(t); err != nil {
			t.Fatal(err)
		}
		mustOwn(t, all, lost)
	}
	for _, n := range all {
		n.stop(t)
	}
	startAll(t, all)
	_, j = ownerOf(t, all)
	mustHave(t, j, 20)
}

func TestANodeOfTheSameNameTakesNobodysPlace(t *testing.T) {
	all := three(t)
	startAll(t, all)
	_, j := ownerOf(t, all)
	put(t, j, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := *all[2] // the others reach the first one
	other.dir, other.address, other.r = t.TempDir(), l.Addr().String(), nil
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ln, err := link.Listen(t.Context(), link.Options{Listen: other.address, Cluster: "test", Node: other.name,
		Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	said := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // it asks several times meanwhile
	defer cancel()
	go func() {
		r, err := replica.Open(ctx, replica.Options{Node: other.name, Peers: other.peers, Link: ln,
			Dir: filepath.Join(other.dir, "cluster"), Tick: 20 * time.Millisecond})
		if err == nil {
			err = errors.Join(errors.New("it has taken the place of the node that is there"), r.Close())
		}
		said <- err
	}()
	n := uint64(1)
	for err = nil; err == nil; {
		n++
		put(t, j, n)
		select {
		case err = <-said:
		default:
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	mustHave(t, j, n)
}

func TestAParcelOfWhichNothingComesIsGivenUp(t *testing.T) {
	all := three(t)
	all[0].stall = 50 * time.Millisecond
	startAll(t, all)
	ownerOf(t, all)
	all[1].stop(t)
	d, err := link.NewDialer(link.Options{Cluster: "test", Node: all[1].name, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Dial(t.Context(), link.Peer{Node: all[0].name, Address: all[0].address}, "parcel")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte{1, 0}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the node still waits for the rest: %v", err)
	}
}

func TestANodeThatHangsGetsTheNextCheckpoint(t *testing.T) {
	all := three(t)
	for _, n := range all {
		n.stall = 50 * time.Millisecond
	}
	startAll(t, all)
	mustOwn(t, all, all[0])
	owner, j := ownerOf(t, all)
	hangs := all[2]
	hangs.stop(t)
	l, err := link.Listen(t.Context(), link.Options{Listen: hangs.address, Cluster: "test", Node: hangs.name,
		Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := make(chan struct{}, 2)
	l.Handle("parcel", func(ctx context.Context, _ string, c net.Conn) {
		sent <- struct{}{}
		<-ctx.Done()
	})
	for n := range uint64(2) {
		put(t, j, n+1)
		err := j.SaveCheckpoint(t.Context(), j.End(), func(w io.Writer) error {
			_, err := w.Write([]byte("checkpoint"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-sent:
		case <-time.After(10 * time.Second):
			t.Fatalf("node %s has sent %d checkpoints", owner.name, n)
		}
	}
}

func TestANodeWithoutRoomGoesOnAndSaysSo(t *testing.T) {
	all := three(t)
	disks := map[*node]*atomic.Bool{}
	for _, n := range all {
		disk, full := faultfs.New(), new(atomic.Bool)
		disk.Fault(func(op faultfs.Op) error {
			if full.Load() && op.Kind == "write" {
				return syscall.ENOSPC
			}
			return nil
		})
		n.fs, disks[n] = disk, full
	}
	startAll(t, all)
	owner, j := ownerOf(t, all)
	short := all[0]
	if short == owner {
		short = all[1]
	}
	disks[short].Store(true)
	put(t, j, 1)
	waittest.Until(t, "the node says that it waits for room", func() bool {
		return strings.Contains(short.r.Status().Disk, "no room")
	})
	put(t, j, 2)
	disks[short].Store(false)
	waittest.Until(t, "the node has what the others have", func() bool {
		behind := slices.ContainsFunc(owner.r.Status().Members, func(m cluster.MemberView) bool {
			return !m.Known || m.Lag > 0
		})
		return !behind && short.r.Status().Disk == ""
	})
}
