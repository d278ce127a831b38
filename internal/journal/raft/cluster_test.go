package raft

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// cluster is several replicas in this process, and what lies between them.
type cluster struct {
	t     *testing.T
	tick  time.Duration
	live  func(context.Context, io.Reader, journal.Reader) ([]journal.Address, error)
	most  int // Options.PendingBytes
	local map[uint64]Local
	peers []uint64

	mu    sync.Mutex
	nodes map[uint64]*Replica
	cut   func(m *pb.Message) bool
}

// newCluster makes n replicas, over local journals that local makes.
func newCluster(t *testing.T, n int, local func(id uint64) Local) *cluster {
	c := &cluster{t: t, tick: 10 * time.Millisecond, local: map[uint64]Local{}, nodes: map[uint64]*Replica{}}
	for i := range n {
		id := uint64(i + 1)
		c.peers = append(c.peers, id)
		c.local[id] = local(id)
	}
	t.Cleanup(func() {
		for _, id := range c.peers {
			c.stop(id)
		}
	})
	return c
}

// inMemories makes n replicas over local journals in memory.
func inMemories(t *testing.T, n int) (c *cluster, locals map[uint64]*inMemory) {
	locals = map[uint64]*inMemory{}
	c = newCluster(t, n, func(id uint64) Local {
		locals[id] = &inMemory{disk: memory.New()}
		return locals[id]
	})
	return c, locals
}

func (c *cluster) startAll() {
	c.t.Helper()
	for _, id := range c.peers {
		c.start(id)
	}
}

func (c *cluster) start(id uint64) *Replica {
	c.t.Helper()
	r, err := Start(c.t.Context(), Options{ID: id, Peers: c.peers, Local: c.local[id], Send: c.send, Ship: c.ship(id),
		Live: c.live, Tick: c.tick, PendingBytes: c.most, Report: func(err error) { c.t.Log(id, err) }})
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[id] = r
	return r
}

func (c *cluster) stop(id uint64) {
	c.mu.Lock()
	r := c.nodes[id]
	delete(c.nodes, id)
	c.mu.Unlock()
	if r != nil {
		_ = r.Close()
	}
}

func (c *cluster) node(id uint64) *Replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[id]
}

// block lets messages be lost.
func (c *cluster) block(cut func(*pb.Message) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
}

func (c *cluster) send(messages []*pb.Message) {
	for _, m := range messages {
		c.mu.Lock()
		to, cut := c.nodes[m.GetTo()], c.cut
		c.mu.Unlock()
		if to == nil || cut != nil && cut(m) {
			continue
		}
		b, err := proto.Marshal(m)
		if err != nil {
			panic(err)
		}
		m = &pb.Message{}
		if err := proto.Unmarshal(b, m); err != nil {
			panic(err)
		}
		to.Step(m)
	}
}

func (c *cluster) ship(from uint64) func(context.Context, uint64, func(io.Writer) error) error {
	return func(ctx context.Context, id uint64, parcel func(io.Writer) error) error {
		c.mu.Lock()
		to, cut := c.nodes[id], c.cut
		c.mu.Unlock()
		if to == nil || cut != nil && cut(&pb.Message{From: new(from), To: new(id), Type: pb.MsgSnap.Enum()}) {
			return errors.New("unreachable")
		}
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(parcel(w)) }()
		err := to.Receive(ctx, r)
		return errors.Join(err, r.Close())
	}
}

// leader waits for one that is ready.
func (c *cluster) leader() *Replica {
	c.t.Helper()
	var leads *Replica
	waittest.Until(c.t, "a node leads", func() bool {
		for _, id := range c.peers {
			if r := c.node(id); r != nil && r.Status().Ready {
				leads = r
				return true
			}
		}
		return false
	})
	return leads
}

// inMemory is a local journal in memory.
type inMemory struct {
	mu   sync.Mutex // of which disk it is: a node may get another one while a test looks
	disk *memory.Disk
	last *memory.Journal
}

// now is the disk.
func (l *inMemory) now() *memory.Disk {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.disk
}

// become gives it another disk.
func (l *inMemory) become(d *memory.Disk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disk = d
}

var inMemoryOptions = memory.Options{Durability: journal.Fsync,
	Limits: journal.Limits{GroupBytes: 1 << 20, GroupRecords: 1000}}

func (l *inMemory) Open(context.Context) (journal.Journal, error) {
	j, err := l.now().Open(inMemoryOptions)
	l.last = j
	return j, err
}

func (l *inMemory) Fresh(ctx context.Context) (journal.Journal, Replace, error) {
	next := memory.New()
	j, err := next.Open(inMemoryOptions)
	return j, func(ctx context.Context) (journal.Journal, error) {
		l.become(next)
		if err := j.Close(); err != nil {
			return nil, err
		}
		return l.Open(ctx)
	}, err
}

func (*inMemory) Spool() (Spool, error) { return newSpool() }

// inFile is a spool in a file.
type inFile struct{ *os.File }

func newSpool() (Spool, error) {
	f, err := os.CreateTemp("", "hikyaku-spool")
	return inFile{f}, err
}

func (f inFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// inFiles is a local journal in a folder.
type inFiles struct{ dir string }

func (l inFiles) open(ctx context.Context, name string) (journal.Journal, error) {
	return file.Open(ctx, file.Options{Dir: filepath.Join(l.dir, name), SegmentBytes: 1 << 20})
}

func (inFiles) Spool() (Spool, error) { return newSpool() }

func (l inFiles) Open(ctx context.Context) (journal.Journal, error) { return l.open(ctx, "log") }

func (l inFiles) Fresh(ctx context.Context) (journal.Journal, Replace, error) {
	j, err := l.open(ctx, "fresh")
	return j, func(ctx context.Context) (journal.Journal, error) {
		if err := j.Close(); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(filepath.Join(l.dir, "log")); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(l.dir, "fresh"), filepath.Join(l.dir, "log")); err != nil {
			return nil, err
		}
		return l.Open(ctx)
	}, err
}
