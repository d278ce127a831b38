package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Rewriting makes new journals of those of stores that nobody has open: each with some of the queues and topics, as
// they are, with everything that is known of them. Records are copied, checkpoints are made anew. The old journals are
// only read.

// Folded is what a journal tells, while no Store has it. Its methods may not be called at the same time.
type Folded struct {
	state   *state
	journal journal.Journal
}

// Fold reads a journal. It changes nothing.
func Fold(ctx context.Context, j journal.Journal) (*Folded, error) {
	s, err := fold(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("read journal %s: %w", j.Info().Where, err)
	}
	return &Folded{s, j}, nil
}

// Queues are all queues, with the topics of which they are subscriptions; zero: of none that is there.
func (f *Folded) Queues() map[Name]Name {
	all := make(map[Name]Name, len(f.state.queues))
	for _, q := range f.state.queues {
		all[q.name] = Name{}
		if t := f.state.topicOf(q.def.Topic); t != nil {
			all[q.name] = t.name
		}
	}
	return all
}

// Topics are the names of all topics.
func (f *Folded) Topics() (names []Name) {
	for n := range f.state.topicNames {
		names = append(names, n)
	}
	return names
}

// Messages is how many messages there are, those of the past included.
func (f *Folded) Messages() (n int64) {
	for _, q := range f.state.queues {
		n += int64(q.all.Len() + q.all.past)
	}
	return n
}

// Note is the value of a note; nil: there is none.
func (f *Folded) Note(room, key string) []byte {
	n, _ := f.state.notes.Get(Note{Room: room, Key: key})
	return n.Value
}

// Part says what of a journal goes into another one.
type Part struct {
	From  *Folded
	Queue func(n Name) bool
	Topic func(n Name) bool
	Note  func(n Note) bool
}

// Rewritten is where Rewrite writes.
type Rewritten struct {
	Journal journal.Journal // empty
	Notes   []Note          // beside those of the parts
	Numbers uint32          // queues and topics have smaller ones
	Copied  func(messages int64)
}

// Rewrite writes parts of what journals tell into an empty one, durably. Queues and topics of the first part keep their
// numbers, and so their claims their tokens; those of others get new ones. What it took belongs to the new journal: a
// Folded is good for other parts only. Subscriptions have to be with their topics.
//
// Errors: a *journal.DamageError where a record cannot be read; those of the journal.
func Rewrite(ctx context.Context, to Rewritten, parts ...Part) error {
	s := newState()
	s.folding = true
	s.nextID = 0
	for _, p := range parts {
		from := p.From.state
		s.now, s.epoch, s.nextID = max(s.now, from.now), max(s.epoch, from.epoch), max(s.nextID, from.nextID)
	}
	for i, p := range parts {
		if err := takeOver(ctx, s, &to, &p, i == 0); err != nil {
			return err
		}
	}
	for _, n := range to.Notes {
		s.setNote(n)
	}
	if to.Numbers != 0 && s.nextID > to.Numbers {
		return fmt.Errorf("queues and topics have been given %d numbers: there are %d for each shard", s.nextID,
			to.Numbers)
	}
	if err := to.Journal.Sync(ctx); err != nil {
		return err
	}
	for range checkpointsKept { // if one is damaged there is another one
		err := to.Journal.SaveCheckpoint(ctx, to.Journal.End(), func(w io.Writer) error {
			snap := s.beginSnapshot()
			defer snap.end()
			_, err := snap.writeTo(w, func(look func()) { look() }) // nobody else has this state
			return err
		})
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

// takeOver takes part of another state, and copies its records.
func takeOver(ctx context.Context, s *state, to *Rewritten, p *Part, first bool) error {
	from := p.From.state
	number := func(id uint32) uint32 {
		if first {
			return id
		}
		s.nextID++
		return s.nextID - 1
	}
	numbers := map[uint32]uint32{}
	for _, t := range from.topicsByID.Values() {
		if !p.Topic(t.name) {
			continue
		}
		numbers[t.id] = number(t.id)
	}
	var queues []*queueState
	for _, q := range from.queuesByID.Values() {
		if !p.Queue(q.name) {
			continue
		}
		if t := from.topicOf(q.def.Topic); t != nil && !p.Topic(t.name) {
			return fmt.Errorf("queue %s goes elsewhere than its topic %s", q.name.Short(), t.name.Short())
		}
		numbers[q.id] = number(q.id)
		queues = append(queues, q)
	}
	if err := copyRecords(ctx, to, p.From.journal, queues, numbers); err != nil {
		return fmt.Errorf("copy from journal %s: %w", p.From.journal.Info().Where, err)
	}
	for _, q := range queues {
		q.id = numbers[q.id]
		q.all.queue, q.all.saves, q.saved = q.id, &s.saves, s.saves.newest()
		s.queues[q.id] = q
		s.queuesByID.Set(q.id, q)
	}
	for _, t := range from.topicsByID.Values() {
		if _, takes := numbers[t.id]; !takes || !p.Topic(t.name) {
			continue
		}
		all := btree.Map[uint32, *queueState]{}
		for _, q := range t.subscribed.all.Values() {
			if !p.Queue(q.name) {
				return fmt.Errorf("topic %s goes elsewhere than its subscription %s", t.name.Short(), q.name.Short())
			}
			all.Set(q.id, q)
		}
		t.id, t.subscribed.all, t.saved = numbers[t.id], all, s.saves.newest()
		s.topics[t.id] = t
		s.topicsByID.Set(t.id, t)
	}
	from.notes.Scan(func(n Note) bool {
		if p.Note(n) {
			s.setNote(n)
		}
		return true
	})
	return nil
}

// Bounds of what is copied at once, and of how many groups are on their way.
const (
	copyRecordsAtOnce = 1000
	copyBytesAtOnce   = 4 << 20
	copyGroups        = 8
)

// copyRecords copies the records of the messages of queues, in their order, and lets the queues know where they are.
func copyRecords(ctx context.Context, to *Rewritten, from journal.Journal, queues []*queueState,
	numbers map[uint32]uint32) error {
	var old []journal.Address
	sizes := map[journal.Position]int64{} // of groups, about
	bodies := map[*sharedBody]bool{}
	for _, q := range queues {
		eachKept(q, func(e entry) {
			old = append(old, e.addr())
			sizes[e.addr().Position] += e.size()
			if b := e.shared(); b != nil && !bodies[b] {
				bodies[b] = true
				old = append(old, b.addr)
			}
		})
	}
	slices.SortFunc(old, journal.Address.Compare)
	c := recordCopy{to: to, from: from, numbers: numbers, room: make(chan struct{}, copyGroups),
		at: make([]journal.Address, len(old))}
	for begin := 0; begin < len(old) && c.failed() == nil; {
		end, size := begin, int64(0)
		for end < len(old) { // groups go whole: what came through a topic is found in its own
			next := end
			for next < len(old) && old[next].Position == old[end].Position {
				next++
			}
			size += sizes[old[end].Position]
			if end > begin && (next-begin > copyRecordsAtOnce || size > copyBytesAtOnce) {
				break
			}
			end = next
		}
		if err := c.copy(ctx, old[begin:end], c.at[begin:end]); err != nil {
			return errors.Join(err, c.wait())
		}
		begin = end
	}
	if err := c.wait(); err != nil {
		return err
	}
	moved := func(a journal.Address) journal.Address {
		i, _ := slices.BinarySearchFunc(old, a, journal.Address.Compare)
		return c.at[i]
	}
	for b := range bodies {
		b.addr = moved(b.addr)
	}
	for _, q := range queues {
		for p := range q.all.pagesFrom(0) {
			p.pack() // no row stays of what is gone
			p.record = journal.Address{}
			p.saved = 0
			for i := range p.rows {
				a := moved(journal.Address{Position: p.rows[i].position, Index: p.rows[i].index})
				p.rows[i].position, p.rows[i].index = a.Position, a.Index
			}
		}
	}
	return nil
}

// eachKept calls f for every message, those of the past too.
func eachKept(q *queueState, f func(e entry)) {
	for p := range q.all.pagesFrom(0) {
		kept := p.kept()
		for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
			f(entry{p, uint8(slot)})
		}
	}
}

// recordCopy copies records from one journal to another.
type recordCopy struct {
	to      *Rewritten
	from    journal.Journal
	numbers map[uint32]uint32
	at      []journal.Address // where the records are by now
	room    chan struct{}     // one place for each group under way
	mu      sync.Mutex
	err     error
}

func (c *recordCopy) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// wait waits until no group is under way.
func (c *recordCopy) wait() error {
	for range copyGroups {
		c.room <- struct{}{}
	}
	return c.failed()
}

// copy copies whole groups as one. at will say where its records are.
func (c *recordCopy) copy(ctx context.Context, old, at []journal.Address) error {
	records := make([]journal.Record, len(old))
	var failed error
	err := c.from.Read(ctx, old, func(i int, r journal.Record, err error) {
		records[i], failed = r, cmp.Or(failed, err)
	})
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	var shares map[uint32]uint32 // by the index in its group that the body had
	messages := int64(0)
	for i := range records {
		if i == 0 || old[i].Position != old[i-1].Position {
			shares = map[uint32]uint32{}
		}
		when, e, err := decodeEvent(records[i].Head)
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case *put:
			e.queue, e.body = c.numbers[e.queue], records[i].Body
			messages++
		case *shared:
			e.topic, e.body = c.numbers[e.topic], records[i].Body
			shares[old[i].Index] = uint32(i)
		case *share:
			e.queue, e.index = c.numbers[e.queue], shares[e.index]
			messages++
		default:
			return fmt.Errorf("record %d of group %d is of no message", old[i].Index, old[i].Position)
		}
		records[i] = record(encodeEvent(nil, when, e), e)
	}
	c.room <- struct{}{}
	err = c.to.Journal.Append(records, func(group journal.Position, err error, _ int) {
		defer func() { <-c.room }()
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.err = cmp.Or(c.err, err)
			return
		}
		for i := range at {
			at[i] = journal.Address{Position: group, Index: uint32(i)}
		}
		if c.to.Copied != nil {
			c.to.Copied(messages)
		}
	})
	if err != nil {
		<-c.room
	}
	return err
}
