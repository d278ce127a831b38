package raft

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// clerk is a small owner: it keeps numbered messages until it settles them.
type clerk struct {
	j     journal.Journal
	waits map[uint64]journal.Address // messages by number
}

// liveOf is what a clerk's checkpoint needs.
func liveOf(_ context.Context, r io.Reader, _ journal.Reader) (live []journal.Address, err error) {
	state, err := readClerk(r)
	for _, a := range state {
		live = append(live, a)
	}
	slices.SortFunc(live, journal.Address.Compare)
	return live, err
}

func readClerk(r io.Reader) (map[uint64]journal.Address, error) {
	b, err := io.ReadAll(r)
	state := map[uint64]journal.Address{}
	for ; len(b) >= 20; b = b[20:] {
		state[binary.LittleEndian.Uint64(b)] = journal.Address{
			Position: journal.Position(binary.LittleEndian.Uint64(b[8:])), Index: binary.LittleEndian.Uint32(b[16:])}
	}
	return state, err
}

// openClerk opens the log of a replica and folds it.
func openClerk(ctx context.Context, r *Replica) (*clerk, error) {
	j, _, err := r.Own(ctx)
	if err != nil {
		return nil, err
	}
	c, err := foldClerk(ctx, j)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return c, nil
}

func foldClerk(ctx context.Context, j journal.Journal) (*clerk, error) {
	c := &clerk{j: j, waits: map[uint64]journal.Address{}}
	at, checkpoint, _, err := j.LoadCheckpoint(ctx)
	if err == nil {
		c.waits, err = readClerk(checkpoint)
		err = errors.Join(err, checkpoint.Close())
	} else if errors.Is(err, journal.ErrNoCheckpoint) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	for g, err := range j.Scan(ctx, at) {
		if err != nil {
			return nil, err
		}
		c.fold(g)
	}
	j.Keep(maps.Values(c.waits))
	return c, nil
}

func (c *clerk) fold(g journal.Group) {
	for i, r := range g.Records {
		if r.Life == journal.Lasting {
			c.waits[r.Sequence] = journal.Address{Position: g.Position, Index: uint32(i)}
		} else {
			delete(c.waits, r.Sequence)
		}
	}
}

func (c *clerk) append(records ...journal.Record) (journal.Position, error) {
	type answer struct {
		at  journal.Position
		err error
	}
	got := make(chan answer, 1)
	err := c.j.Append(records, func(at journal.Position, err error, _ int) { got <- answer{at, err} })
	if err != nil {
		return 0, err
	}
	a := <-got
	return a.at, a.err
}

func (c *clerk) put(number uint64) error {
	at, err := c.append(journal.Record{Life: journal.Lasting, Sequence: number,
		Head: binary.AppendUvarint(nil, number), Body: body(number)})
	if err == nil {
		c.waits[number] = journal.Address{Position: at}
	}
	return err
}

func body(number uint64) []byte { return bytes.Repeat([]byte{byte(number)}, int(number%400)) }

func (c *clerk) settle(number uint64) error {
	a := c.waits[number]
	_, err := c.append(journal.Record{Life: journal.Passing, Sequence: number})
	if err == nil {
		delete(c.waits, number)
		c.j.Release(a)
	}
	return err
}

func (c *clerk) save(ctx context.Context) error {
	var b []byte
	for number, a := range c.waits {
		b = binary.LittleEndian.AppendUint64(b, number)
		b = binary.LittleEndian.AppendUint64(b, uint64(a.Position))
		b = binary.LittleEndian.AppendUint32(b, a.Index)
	}
	return c.j.SaveCheckpoint(ctx, c.j.End(), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// ledger is what was answered: which messages are there, and which may be.
type ledger struct {
	next  uint64
	there map[uint64]bool // put was answered, and no settlement was tried
	maybe map[uint64]bool // nobody was told
}

// compare looks whether an owner finds what was answered, and nothing else.
func (l *ledger) compare(c *clerk) error {
	for n := range l.there {
		if _, there := c.waits[n]; !there {
			return fmt.Errorf("message %d was acknowledged and is lost", n)
		}
	}
	for n := range c.waits {
		if !l.there[n] && !l.maybe[n] {
			return fmt.Errorf("message %d was settled and is back", n)
		}
	}
	for n, a := range c.waits {
		var got journal.Record
		err := c.j.Read(context.Background(), []journal.Address{a}, func(_ int, r journal.Record, err error) {
			if err != nil {
				panic(fmt.Sprintf("message %d at %v: %v", n, a, err))
			}
			got = r
		})
		if err != nil {
			return err
		}
		if got.Sequence != n || !bytes.Equal(got.Body, body(n)) {
			return fmt.Errorf("message %d at %v is altered: %d, %d bytes", n, a, got.Sequence, len(got.Body))
		}
	}
	for n := range l.maybe { // now it is known
		if _, there := c.waits[n]; there {
			l.there[n] = true
		}
	}
	clear(l.maybe)
	return nil
}

// work puts and settles until the log is lost, or for a number of times.
func (l *ledger) work(c *clerk, times int, draw *rand.Rand) {
	for range times {
		var err error
		switch draw.IntN(10) {
		case 0:
			err = c.save(context.Background())
		case 1, 2, 3:
			for n := range l.there {
				delete(l.there, n)
				if err = c.settle(n); err != nil {
					l.maybe[n] = true
				}
				break
			}
		default:
			l.next++
			if err = c.put(l.next); err != nil {
				l.maybe[l.next] = true
			} else {
				l.there[l.next] = true
			}
		}
		if err != nil {
			return
		}
	}
}

func TestNothingThatIsAnsweredIsLostWhateverNodesEnd(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(seed, 1))
			c, locals := inMemories(t, 3)
			c.live = liveOf
			c.startAll()
			l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
			for range 25 {
				life(t, c, locals, l, draw)
			}
		})
	}
}

// life lets an owner work while something happens to its nodes, and looks at the log when it is over.
func life(t *testing.T, c *cluster, locals map[uint64]*inMemory, l *ledger, draw *rand.Rand) {
	owner := ownNow(t, c)
	if err := l.compare(owner); err != nil {
		t.Fatal(err)
	}
	id := owner.replica().o.ID
	victims := draw.Perm(3)[:draw.IntN(3)+1]
	fault, settle := draw.IntN(5), draw.IntN(2) == 0
	var harm sync.WaitGroup
	ready := make(chan struct{})
	harm.Go(func() {
		<-ready
		switch fault {
		case 0, 1: // power cuts
			for _, v := range victims {
				cutPower(c, locals, uint64(v+1))
			}
		case 2: // one is alone
			alone := uint64(victims[0] + 1)
			c.block(func(m *pb.Message) bool { return m.GetFrom() == alone || m.GetTo() == alone })
		case 3: // one way only
			deaf := uint64(victims[0] + 1)
			c.block(func(m *pb.Message) bool { return m.GetTo() == deaf })
		case 4:
			c.node(id).Transfer(id%3 + 1)
		}
	})
	l.work(owner, draw.IntN(40), draw)
	close(ready)
	l.work(owner, 20+draw.IntN(60), draw)
	harm.Wait()
	if settle { // what is wrong may last
		time.Sleep(time.Duration(draw.IntN(20)) * c.tick)
	}
	c.block(nil)
	for _, v := range c.peers {
		if c.node(v) == nil {
			c.start(v)
		}
	}
	_ = owner.j.Close()
}

// cutPower ends a node as a power cut does.
func cutPower(c *cluster, locals map[uint64]*inMemory, id uint64) {
	c.mu.Lock()
	r := c.nodes[id]
	delete(c.nodes, id) // nothing reaches it
	before := c.cut
	c.cut = func(m *pb.Message) bool { return m.GetFrom() == id || before != nil && before(m) }
	c.mu.Unlock()
	disk := locals[id].now().CutPower()
	_ = r.Close()
	locals[id].become(disk)
	c.block(before)
}

// ownAt gives the log to a node, and opens it there.
func ownAt(t *testing.T, c *cluster, id uint64) (owner *clerk) {
	t.Helper()
	r := c.node(id)
	waittest.Until(t, "the node leads", func() bool {
		if s := r.Status(); s.Leader != id && s.Leader != 0 {
			c.node(s.Leader).Transfer(id)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*c.tick)
		defer cancel()
		o, err := openClerk(ctx, r)
		owner = o
		return err == nil
	})
	return owner
}

// ownNow waits for an owner. Who leads may change meanwhile.
func ownNow(t *testing.T, c *cluster) (owner *clerk) {
	t.Helper()
	waittest.Until(t, "the log has an owner", func() bool {
		for _, id := range c.peers {
			ctx, cancel := context.WithTimeout(t.Context(), 5*c.tick)
			o, err := openClerk(ctx, c.node(id))
			cancel()
			if err == nil {
				owner = o
				mustBeAlone(t, c, id)
				return true
			}
		}
		return false
	})
	return owner
}

// mustBeAlone fails when another node than the owner may think that it has the log.
func mustBeAlone(t *testing.T, c *cluster, owner uint64) {
	t.Helper()
	mine := c.node(owner)
	mine.mu.Lock()
	term, now := mine.term, time.Now()
	mine.mu.Unlock()
	for _, id := range c.peers {
		r := c.node(id)
		if id == owner || r == nil {
			continue
		}
		r.mu.Lock()
		if r.term < term && now.Before(r.held) {
			t.Errorf("node %d has the log until %v and is of term %d; node %d owns it in term %d", id,
				r.held.Sub(now), r.term, owner, term)
		}
		r.mu.Unlock()
	}
}

func TestANodeThatHasFallenBehindIsGivenTheLogAnew(t *testing.T) {
	for name, local := range map[string]func() Local{
		"memory": func() Local { return &inMemory{disk: memory.New()} },
		"files":  func() Local { return inFiles{t.TempDir()} },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3, func(uint64) Local { return local() })
			c.live = liveOf
			c.startAll()
			owner := ownNow(t, c)
			id := owner.replica().o.ID
			away := id%3 + 1
			l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
			draw := rand.New(rand.NewPCG(1, 2))
			l.work(owner, 30, draw)
			c.stop(away)
			for range 6 {
				l.work(owner, 50, draw)
				if err := owner.save(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			c.start(away)
			want := owner.j.End()
			waittest.Until(t, "the node has the log", func() bool {
				return c.node(away).Status().Applied >= uint64(want)
			})
			if err := owner.j.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it owns the log, and does so after a start, too
				owner = ownAt(t, c, away)
				if err := l.compare(owner); err != nil {
					t.Fatal(err)
				}
				l.work(owner, 20, draw)
				if err := owner.j.Close(); err != nil {
					t.Fatal(err)
				}
				c.stop(away)
				c.start(away)
			}
		})
	}
}

func (c *clerk) replica() *Replica { return c.j.(*owner).r }

func TestNodesThatDoNotOwnTheLogReclaimSpace(t *testing.T) {
	c, locals := inMemories(t, 3)
	c.live = liveOf
	c.startAll()
	owner := ownNow(t, c)
	const messages = 300
	for n := range uint64(messages) {
		if err := owner.put(n + 1); err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint64(messages - 1) {
		if err := owner.settle(n + 1); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := owner.save(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := owner.append(journal.Record{Life: journal.Passing}); err != nil { // it is sent one, then the next
			t.Fatal(err)
		}
		at := uint64(owner.j.Stats().Checkpoint)
		waittest.Until(t, "all have the checkpoint", func() bool {
			return !slices.ContainsFunc(c.peers, func(id uint64) bool { return c.node(id).log.checkpoint() < at })
		})
	}
	for id, l := range locals {
		if n := len(l.disk.Groups()); n > 20 {
			t.Errorf("node %d keeps %d groups, of which one is needed", id, n)
		}
		if n := c.node(id).log.size(); n > 20 && id != owner.replica().o.ID {
			t.Errorf("node %d remembers %d places", id, n)
		}
	}
}

func TestANodeAloneWithoutRoomOwnsTheLogWhenThereIsRoomAgain(t *testing.T) {
	c, locals := inMemories(t, 1)
	local := locals[1]
	c.startAll()
	owner := ownNow(t, c)
	fillInFlight(t, owner, local)
	if err := owner.j.Close(); err != nil && !errors.Is(err, journal.ErrFull) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*c.tick)
	defer cancel()
	if o, err := openClerk(ctx, c.node(1)); err == nil {
		t.Error("a node without room owns the log", o.j.Close())
	}
	local.last.Fill(false)
	owner = ownNow(t, c)
	waittest.Until(t, "the owner has seen that there is room", func() bool { return owner.j.Health() == nil })
	if err := owner.put(1); err != nil {
		t.Error(err)
	}
}

// fillInFlight leaves an owner's node no room, just when something is on its way, until it has lost the log by that.
func fillInFlight(t *testing.T, owner *clerk, local *inMemory) {
	t.Helper()
	// Once it has seen that there is no room, it refuses; what came just before is in the way of all that follows.
	for n := uint64(2); ; n++ {
		local.last.Fill(true)
		err := owner.put(n)
		if err != nil && !errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrLost) {
			return
		}
		local.last.Fill(false)
		waittest.Until(t, "there is room again", func() bool { return owner.j.Health() == nil })
	}
}

func TestAnOwnerWithoutRoomGivesTheLogAway(t *testing.T) {
	c, locals := inMemories(t, 3)
	c.live = liveOf
	c.startAll()
	owner := ownNow(t, c)
	id := owner.replica().o.ID
	if err := owner.put(1); err != nil {
		t.Fatal(err)
	}
	fillInFlight(t, owner, locals[id])
	next := ownNow(t, c)
	if next.replica().o.ID == id {
		t.Error("the node without room owns the log again")
	}
	if err := next.put(1000); err != nil {
		t.Error(err)
	}
	if err := next.settle(1); err != nil {
		t.Error(err)
	}
	locals[id].last.Fill(false)
	if err := errors.Join(owner.j.Close(), next.j.Close()); err != nil {
		t.Error(err)
	}
}

func TestALogThatWasToGoToANodeThatIsAwayHasAnOwnerAgain(t *testing.T) {
	c, _ := inMemories(t, 3)
	c.startAll()
	owner := ownNow(t, c)
	id := owner.replica().o.ID
	away := id%3 + 1
	c.stop(away)
	owner.replica().Transfer(away)
	waittest.Until(t, "the owner gives up", func() bool { return errors.Is(owner.j.Health(), journal.ErrLost) })
	before := owner.replica().Status().Term
	var next *clerk
	waittest.Until(t, "the log has an owner", func() bool {
		for _, other := range []uint64{id, 6 - id - away} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*c.tick)
			o, err := openClerk(ctx, c.node(other))
			cancel()
			if err == nil {
				next = o
				return true
			}
		}
		return false
	})
	if term := next.replica().Status().Term; term <= before {
		t.Errorf("in term %d a node may lead that heard late that it should, and node %d has a lease in it", term,
			next.replica().o.ID)
	}
	if err := next.put(1); err != nil {
		t.Error(err)
	}
}
