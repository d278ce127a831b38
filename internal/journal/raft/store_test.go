package raft

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// onDisk is a local journal in files of a disk that may be full.
type onDisk struct{ disk *faultfs.Disk }

func (l onDisk) Open(ctx context.Context) (journal.Journal, error) {
	return file.Open(ctx, file.Options{Dir: "log", FS: l.disk, SegmentBytes: 1 << 20})
}

func (onDisk) Spool() (Spool, error) { return newSpool() }

func (onDisk) Fresh(context.Context) (journal.Journal, Replace, error) {
	return nil, nil, errors.New("no checkpoint is saved: nobody falls behind")
}

func TestANodeWhoseDiskIsFullForAWhileHasTheLogAgainWhenThereIsRoom(t *testing.T) {
	for name, make := range map[string]func() (local Local, full func(bool)){
		"memory": func() (Local, func(bool)) {
			l := &inMemory{disk: memory.New()}
			return l, func(on bool) { l.last.Refuse(on) }
		},
		"files": func() (Local, func(bool)) {
			disk, full := faultfs.New(), new(atomic.Bool)
			disk.Fault(func(op faultfs.Op) error {
				if full.Load() && op.Kind == "write" && strings.HasSuffix(op.Name, ".log") {
					return syscall.ENOSPC
				}
				return nil
			})
			return onDisk{disk}, full.Store
		},
	} {
		t.Run(name, func(t *testing.T) {
			full := map[uint64]func(bool){}
			c := newCluster(t, 3, func(id uint64) (l Local) {
				l, full[id] = make()
				return l
			})
			c.live = liveOf
			c.startAll()
			owner := ownNow(t, c)
			id := owner.replica().o.ID
			short := id%3 + 1
			l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
			for n := range uint64(20) { // also between two groups that are on their way
				if errors.Is(owner.j.Health(), journal.ErrLost) {
					owner = ownNow(t, c)
				}
				full[short](true)
				if l.maybe[n] = true; owner.put(n) == nil {
					l.there[n] = true
				}
				var many sync.WaitGroup
				for range 20 {
					many.Go(func() { _, _ = owner.append(journal.Record{Life: journal.Passing, Sequence: 1 << 40}) })
				}
				full[short](false)
				many.Wait()
			}
			waittest.Until(t, "the node has the log", func() bool {
				s := c.node(short).Status()
				if s.Failure != nil {
					t.Fatal(s.Failure)
				}
				return s.Applied >= c.leader().Status().Applied && s.Waits == nil
			})
			c.stop(short)
			c.start(short)
			if err := l.compare(ownAt(t, c, short)); err != nil {
				t.Error(err)
			}
		})
	}
}

// fullAtSwap is a local journal where there is no room for a moment when another log is to take its place.
type fullAtSwap struct {
	*inMemory
	refused *atomic.Int64
}

func (l fullAtSwap) Fresh(ctx context.Context) (journal.Journal, Replace, error) {
	j, replace, err := l.inMemory.Fresh(ctx)
	return &fullAfterwards{Journal: j, refused: l.refused}, replace, err
}

// fullAfterwards has no room for some groups after a checkpoint.
type fullAfterwards struct {
	journal.Journal
	saved   atomic.Bool
	refused *atomic.Int64
}

func (j *fullAfterwards) SaveCheckpoint(ctx context.Context, at journal.Position, write func(io.Writer) error) error {
	err := j.Journal.SaveCheckpoint(ctx, at, write)
	j.saved.Store(true)
	return err
}

func (j *fullAfterwards) Write(records []journal.Record) error {
	if j.saved.Load() && j.refused.Add(1) <= 3 {
		return journal.ErrFull
	}
	return j.Journal.Write(records)
}

func TestALogThatCameFromAnotherNodeWaitsForRoomToTakeItsPlace(t *testing.T) {
	const away = 1
	refused := new(atomic.Int64)
	c := newCluster(t, 3, func(id uint64) Local {
		l := &inMemory{disk: memory.New()}
		if id == away {
			return fullAtSwap{l, refused}
		}
		return l
	})
	c.live = liveOf
	c.block(func(m *pb.Message) bool { return m.GetFrom() == away && m.GetType() == pb.MsgPreVote })
	c.startAll()
	owner := ownNow(t, c)
	c.stop(away)
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		l.work(owner, 20, draw)
		if err := owner.save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r := c.start(away)
	waittest.Until(t, "the node has the log", func() bool {
		return r.Status().Failure != nil || r.Status().Applied >= uint64(owner.j.End())
	})
	if err := r.Status().Failure; err != nil {
		t.Error(err)
	}
	if refused.Load() == 0 {
		t.Error("no log came from another node")
	}
}

// fullForMessages is a local journal in memory that has room for nothing but settlements while it is told so.
type fullForMessages struct {
	*inMemory
	full *atomic.Bool
}

func (l fullForMessages) Open(ctx context.Context) (journal.Journal, error) {
	j, err := l.inMemory.Open(ctx)
	return healthOf{j, l.full}, err
}

type healthOf struct {
	journal.Journal
	full *atomic.Bool
}

func (j healthOf) Health() error {
	if j.full.Load() {
		return journal.ErrFull
	}
	return j.Journal.Health()
}

func TestTheNodeThatHasRoomForMessagesOwnsTheLog(t *testing.T) {
	full := map[uint64]*atomic.Bool{}
	c := newCluster(t, 3, func(id uint64) Local {
		full[id] = new(atomic.Bool)
		return fullForMessages{&inMemory{disk: memory.New()}, full[id]}
	})
	c.live = liveOf
	c.startAll()
	for range 3 {
		leads := c.leader().o.ID
		roomy := leads%3 + 1
		for id, f := range full {
			f.Store(id != roomy)
		}
		waittest.Until(t, "the node that has room owns the log", func() bool { return c.node(roomy).Status().Ready })
		owner := ownAt(t, c, roomy)
		if _, err := owner.append(journal.Record{Life: journal.Lasting, Sequence: 1}); err != nil {
			t.Error(err)
		}
	}
}
