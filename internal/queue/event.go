package queue

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// An event is what a record says happened. The state is folded from events: from new ones as they become durable, and
// from the journal's at a start. A record's head is the event's kind, the journaled time and the event's own fields.
type event interface {
	kind() eventKind
	append(b []byte) []byte
	read(r *reader)
}

type eventKind byte

// The kinds of event. Their numbers are part of the journal's format: append, never renumber.
const (
	kindStart eventKind = iota + 1
	kindQueue
	kindQueueGone
	kindTopic
	kindTopicGone
	kindPut
	kindShared
	kindShare
	kindClaim
	kindExtend
	kindSettle
	kindPurge
	kindNote
	kindSeek
	kindSnapshot
	kindSnapshotGone
	kindPaged
	kindRemoved
	kindRenamed
	kindReshaped
	kindSeekAcross

	kindLast = kindSeekAcross
)

func newEvent(k eventKind) event {
	switch k {
	case kindStart:
		return new(started)
	case kindQueue:
		return new(queueDefined)
	case kindQueueGone:
		return new(queueGone)
	case kindTopic:
		return new(topicDefined)
	case kindTopicGone:
		return new(topicGone)
	case kindPut:
		return new(put)
	case kindShared:
		return new(shared)
	case kindShare:
		return new(share)
	case kindClaim:
		return new(claimed)
	case kindExtend:
		return new(extended)
	case kindSettle:
		return new(settled)
	case kindPurge:
		return new(purged)
	case kindNote:
		return new(noted)
	case kindSeek:
		return new(sought)
	case kindSeekAcross:
		return &sought{goes: new(sequences)}
	case kindSnapshot:
		return new(snapshotTaken)
	case kindSnapshotGone:
		return new(snapshotGone)
	case kindPaged:
		return new(paged)
	case kindRemoved:
		return new(removed)
	case kindRenamed:
		return new(renamed)
	case kindReshaped:
		return new(reshaped)
	}
	return nil
}

// encodeEvent makes a record's head. at is journaled time in microseconds.
func encodeEvent(b []byte, at int64, e event) []byte {
	b = append(b, byte(e.kind()))
	b = putInt(b, at)
	return e.append(b)
}

func decodeEvent(head []byte) (at int64, e event, err error) {
	r := &reader{b: head}
	k := eventKind(r.byte())
	at = r.int()
	if r.err != nil {
		return 0, nil, later("the log", "a record", r.err)
	}
	if e = newEvent(k); e == nil {
		return 0, nil, &journal.FormatError{Where: "the log", What: "a record", Found: uint64(k),
			Known: uint64(kindLast)}
	}
	e.read(r)
	err = r.done()
	switch e := e.(type) {
	case *put:
		err = errors.Join(err, checkHead(e.head))
	case *shared:
		err = errors.Join(err, checkHead(e.head))
	}
	if err != nil { // the text is only made then: a start reads a million
		err = later("the log", fmt.Sprintf("a record of kind %d", k), err)
	}
	return at, e, err
}

// packing is room for the records of a group, used again for the next: the journal keeps none of it.
type packing struct {
	records []journal.Record
	heads   []byte // grows into a new place when there is no room: what was packed stays where it is
}

// Bounds of the room that is kept.
const (
	packedRecords = 1024
	packedBytes   = 256 << 10
)

// add packs an event of that time, and tells its size.
func (p *packing) add(at int64, e event) int {
	from := len(p.heads)
	p.heads = encodeEvent(p.heads, at, e)
	r := record(p.heads[from:len(p.heads):len(p.heads)], e)
	p.records = append(p.records, r)
	return r.Size()
}

// reset empties it.
func (p *packing) reset() {
	clear(p.records)
	p.records, p.heads = p.records[:0], p.heads[:0]
	if cap(p.records) > packedRecords {
		p.records = nil
	}
	if cap(p.heads) > packedBytes {
		p.heads = nil
	}
}

// record makes what the journal keeps of an event with that head.
func record(head []byte, e event) journal.Record {
	rec := journal.Record{Head: head}
	switch e := e.(type) {
	case *put:
		rec.Queue, rec.Sequence, rec.Life, rec.Body = e.queue, e.seq, journal.Lasting, e.body
	case *shared:
		rec.Queue, rec.Sequence, rec.Life, rec.Body = e.topic, e.number, journal.Lasting, e.body
	case *share:
		rec.Queue, rec.Sequence, rec.Life = e.queue, e.seq, journal.Lasting
	case *paged:
		rec.Queue, rec.Sequence, rec.Life, rec.Body = e.queue, e.number*pageSize, journal.Lasting, e.body
	case *claimed:
		rec.Queue, rec.Sequence = e.queue, e.seq
	case *extended:
		rec.Queue, rec.Sequence = e.queue, e.seq
	case *settled:
		rec.Queue, rec.Sequence = e.queue, e.seq
	}
	return rec
}

// started begins an epoch: the store was opened.
type started struct{ epoch uint32 }

func (*started) kind() eventKind          { return kindStart }
func (e *started) append(b []byte) []byte { return putUint(b, uint64(e.epoch)) }
func (e *started) read(r *reader)         { e.epoch = r.uint32() }

// queueDefined makes a queue or changes its definition.
type queueDefined struct {
	queue uint32
	name  Name
	def   Definition

	// not kept: nothing of the past is left that the rule until now has made forgettable, so apply need not look for it
	forgotten bool
}

func (*queueDefined) kind() eventKind { return kindQueue }
func (e *queueDefined) append(b []byte) []byte {
	b = putUint(b, uint64(e.queue))
	b = putString(b, e.name.Namespace)
	b = putString(b, e.name.Name)
	return appendDefinition(b, &e.def)
}
func (e *queueDefined) read(r *reader) {
	e.queue = r.uint32()
	e.name = Name{r.string(), r.string()}
	e.def = readDefinition(r)
}

type queueGone struct{ queue uint32 }

func (*queueGone) kind() eventKind          { return kindQueueGone }
func (e *queueGone) append(b []byte) []byte { return putUint(b, uint64(e.queue)) }
func (e *queueGone) read(r *reader)         { e.queue = r.uint32() }

type topicDefined struct {
	topic  uint32
	name   Name
	labels map[string]string
}

func (*topicDefined) kind() eventKind { return kindTopic }
func (e *topicDefined) append(b []byte) []byte {
	b = putUint(b, uint64(e.topic))
	b = putString(b, e.name.Namespace)
	b = putString(b, e.name.Name)
	return appendLabels(b, e.labels)
}
func (e *topicDefined) read(r *reader) {
	e.topic = r.uint32()
	e.name = Name{r.string(), r.string()}
	e.labels = readLabels(r)
}

type topicGone struct{ topic uint32 }

func (*topicGone) kind() eventKind          { return kindTopicGone }
func (e *topicGone) append(b []byte) []byte { return putUint(b, uint64(e.topic)) }
func (e *topicGone) read(r *reader)         { e.topic = r.uint32() }

// put adds a message to a queue.
type put struct {
	queue  uint32
	seq    uint64
	size   uint32
	wake   int64 // sleeps until then; 0: does not
	expire int64 // 0: never
	dedup  int64 // until when the deduplication id in the head is remembered; 0: not
	origin message.Origin
	head   []byte
	body   []byte // in the record's body, not its head
}

func (*put) kind() eventKind { return kindPut }
func (e *put) append(b []byte) []byte {
	b = appendPlace(b, e.queue, e.seq)
	b = putUint(b, uint64(e.size))
	b = putInt(b, e.wake)
	b = putInt(b, e.expire)
	b = putInt(b, e.dedup)
	b = appendOrigin(b, &e.origin)
	return append(b, e.head...)
}
func (e *put) read(r *reader) {
	e.queue, e.seq = readPlace(r)
	e.size = r.uint32()
	e.wake, e.expire, e.dedup = r.int(), r.int(), r.int()
	e.origin = readOrigin(r)
	e.head = r.take(uint64(len(r.b)))
}

// shared keeps the head and body of a message published to a topic; the share events behind it in the same group give
// it to subscriptions.
type shared struct {
	topic  uint32
	number uint64 // of the publish, in its topic
	head   []byte
	body   []byte
}

func (*shared) kind() eventKind { return kindShared }
func (e *shared) append(b []byte) []byte {
	b = appendPlace(b, e.topic, e.number)
	return append(b, e.head...)
}
func (e *shared) read(r *reader) {
	e.topic, e.number = readPlace(r)
	e.head = r.take(uint64(len(r.b)))
}

// share adds the message of the shared event at index in the same group to a subscription.
type share struct {
	queue  uint32
	seq    uint64
	index  uint32
	size   uint32
	wake   int64
	expire int64
	dedup  int64
	origin message.Origin
}

func (*share) kind() eventKind { return kindShare }
func (e *share) append(b []byte) []byte {
	b = appendPlace(b, e.queue, e.seq)
	b = putUint(b, uint64(e.index))
	b = putUint(b, uint64(e.size))
	b = putInt(b, e.wake)
	b = putInt(b, e.expire)
	b = putInt(b, e.dedup)
	return appendOrigin(b, &e.origin)
}
func (e *share) read(r *reader) {
	e.queue, e.seq = readPlace(r)
	e.index, e.size = r.uint32(), r.uint32()
	e.wake, e.expire, e.dedup = r.int(), r.int(), r.int()
	e.origin = readOrigin(r)
}

// claimed hands a message out.
type claimed struct {
	queue    uint32
	seq      uint64
	attempt  uint32
	epoch    uint32
	serial   uint32 // of the claim, in its epoch
	deadline int64  // 0: the owner's life alone
	owned    bool   // it ends with its owner, and so with the process
}

func (*claimed) kind() eventKind { return kindClaim }
func (e *claimed) append(b []byte) []byte {
	b = appendPlace(b, e.queue, e.seq)
	b = putUint(b, uint64(e.attempt))
	b = putUint(b, uint64(e.epoch))
	b = putUint(b, uint64(e.serial))
	b = putInt(b, e.deadline)
	return putBool(b, e.owned)
}
func (e *claimed) read(r *reader) {
	e.queue, e.seq = readPlace(r)
	e.attempt, e.epoch, e.serial, e.deadline, e.owned = r.uint32(), r.uint32(), r.uint32(), r.int(), r.bool()
}

// extended moves a claim's deadline.
type extended struct {
	queue    uint32
	seq      uint64
	deadline int64
}

func (*extended) kind() eventKind { return kindExtend }
func (e *extended) append(b []byte) []byte {
	return putInt(appendPlace(b, e.queue, e.seq), e.deadline)
}
func (e *extended) read(r *reader) {
	e.queue, e.seq = readPlace(r)
	e.deadline = r.int()
}

// ending says how a settled event ends a claim or a message.
type ending byte

const (
	endDone    ending = iota // delivered
	endBack                  // ready again
	endDead                  // moved to a dead-letter queue: the put is in the same group
	endExpired               // not claimed in time
	endMoved                 // replayed to another queue: the put is in the same group

	endUnknown // from here on: those of later versions
)

type settled struct {
	queue     uint32
	seq       uint64
	end       ending
	wake      int64 // endBack: sleeps until then; 0: at once
	uncounted bool  // endBack: the hand-out did not count
}

func (*settled) kind() eventKind { return kindSettle }
func (e *settled) append(b []byte) []byte {
	b = appendPlace(b, e.queue, e.seq)
	b = append(b, byte(e.end))
	b = putInt(b, e.wake)
	return putBool(b, e.uncounted)
}
func (e *settled) read(r *reader) {
	e.queue, e.seq = readPlace(r)
	e.end, e.wake, e.uncounted = ending(r.byte()), r.int(), r.bool()
	if e.end >= endUnknown {
		r.fail(fmt.Errorf("%w: a message that ends in way %d", errTruncated, e.end))
	}
}

// purged removes every message of a queue before a frontier.
type purged struct {
	queue    uint32
	frontier uint64
	removed  int // not kept: how many there were, once it is applied
}

func (*purged) kind() eventKind          { return kindPurge }
func (e *purged) append(b []byte) []byte { return appendPlace(b, e.queue, e.frontier) }
func (e *purged) read(r *reader)         { e.queue, e.frontier = readPlace(r) }

// noted sets or forgets a note.
type noted struct {
	note Note
	gone bool
}

func (*noted) kind() eventKind { return kindNote }
func (e *noted) append(b []byte) []byte {
	b = putString(b, e.note.Room)
	b = putString(b, e.note.Key)
	b = putBool(b, e.gone)
	return putBytes(b, e.note.Value)
}
func (e *noted) read(r *reader) {
	e.note.Room, e.note.Key = r.string(), r.string()
	e.gone = r.bool()
	e.note.Value = append([]byte{}, r.bytes()...)
}

func appendPlace(b []byte, queue uint32, seq uint64) []byte {
	return putUint(putUint(b, uint64(queue)), seq)
}

func readPlace(r *reader) (queue uint32, seq uint64) { return r.uint32(), r.uint() }

func appendOrigin(b []byte, o *message.Origin) []byte {
	b = putString(b, o.Source)
	if o.Source != "" {
		b = putUint(b, o.Offset)
		b = putUint(b, o.Part)
		b = putUint(b, o.Mark)
	}
	return b
}

func readOrigin(r *reader) (o message.Origin) {
	if o.Source = r.string(); o.Source != "" {
		o.Offset, o.Part, o.Mark = r.uint(), r.uint(), r.uint()
	}
	return o
}
