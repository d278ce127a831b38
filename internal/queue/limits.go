package queue

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// WithDefaults are the limits with what is zero set to what it means.
func (l Limits) WithDefaults() Limits {
	set := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	seti := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&l.Messages, 10_000_000)
	set(&l.Bytes, 64<<30)
	seti(&l.MessageBytes, 64<<20)
	seti(&l.PutMessages, 10_000)
	seti(&l.Copies, 10_000)
	seti(&l.Subscriptions, 10_000)
	seti(&l.Queues, 100_000)
	seti(&l.Waiters, 100_000)
	return l
}

// groups are the bounds of what the Store hands to the journal at once.
type groups struct {
	journal.Limits
	passing    int // records of claims, of their ends and extensions, in one group
	moved      int // messages that go from one queue to another in one group,
	movedBytes int // and their sizes; one moves whatever its size
	pagedBytes int // pages in one group
}

// What a group has to take, whatever the journal.
const (
	leastGroupBytes   = 32 << 10
	leastGroupRecords = 16
)

// Room in a group.
const (
	passingRoom = 64      // a record of a claim, of its end or its extension
	deathRoom   = 8 << 10 // what a message becomes longer by when it becomes a dead letter, and the end of its claim
	putRoom     = 160     // numbers and times of a record that puts a message, and of its head
)

// Bounds of what moves in one atomic group, where the journal takes more.
const (
	movedAtOnce = 100
	movedBytes  = 1 << 20
)

func groupsOf(j journal.Info) (groups, error) {
	l := j.Limits
	if l.GroupBytes < leastGroupBytes || l.GroupRecords < leastGroupRecords {
		return groups{}, fmt.Errorf("journal %s takes groups of %d records and %d bytes: a store needs %d and %d",
			j.Where, l.GroupRecords, l.GroupBytes, leastGroupRecords, leastGroupBytes)
	}
	return groups{
		Limits:     l,
		passing:    min(l.GroupRecords, l.GroupBytes/passingRoom),
		moved:      min(movedAtOnce, l.GroupRecords/4), // an end and a put each, and copies as many as both
		movedBytes: min(movedBytes, l.GroupBytes/2),
		pagedBytes: min(pagedBytes, l.GroupBytes-pagedAtOnce*passingRoom),
	}, nil
}

// bound makes limits such that what they allow goes into one group: a message also when it becomes a dead letter, and
// one message for all subscriptions of its topic.
func (g *groups) bound(l Limits) Limits {
	l.MessageBytes = min(l.MessageBytes, g.GroupBytes-deathRoom)
	l.PutMessages = min(l.PutMessages, g.GroupRecords)
	l.Copies = min(l.Copies, g.GroupRecords/2)
	l.Subscriptions = min(l.Subscriptions, g.GroupRecords-2)
	return l
}

// fits refuses a message that would not go into a group of its own, with what its head has besides what Size counts.
func (g *groups) fits(m *message.Message) error {
	n := putRoom + headRoom(m) + 16*len(m.Attributes) + len(m.Body) + len(m.Origin.Source)
	for i := range m.Row {
		if size := m.Row[i].Size(); size > largeValue {
			n += size + 16
		}
	}
	if most := g.GroupBytes - deathRoom; n > most {
		return fmt.Errorf("%d bytes in the journal, which takes %d", n, most)
	}
	return nil
}

// tooMany refuses a group of so many messages that would make so many copies.
func (l *Limits) tooMany(messages, copies int) error {
	if messages > 1 && copies > l.Copies {
		return &CopiesError{copies, l.Copies}
	}
	return nil
}
