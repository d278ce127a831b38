package sqs

import (
	"slices"
	"time"
)

// The reference is SQS as its documentation tells it, made of lists that are looked through from the front. It says
// what this door answers where the service leaves things open: messages come out in the order in which they were sent.

// letter is a message of the reference.
type letter struct {
	id       string // MessageId
	body     string
	number   int // the attribute n
	group    string
	sent     int // its place in the queue, from 1
	receives int
	receipt  string // of the newest receive
	flying   bool   // it is claimed, until visible
	visible  time.Time
	apart    bool      // while it is claimed it does not go back with those before it of its group: not after a restart
	wakes    time.Time // of a delayed one; zero: it is not delayed
	expires  time.Time // when it is dropped, unless it is in flight; zero: never
}

// reference is a queue.
type reference struct {
	name       string
	fifo       bool
	visibility time.Duration
	delay      time.Duration
	retention  time.Duration
	redrive    int        // maxReceiveCount; 0: none
	dead       *reference // where dead letters go; nil: they have no other queue
	sent       int
	letters    []*letter
	dedup      map[string]first
	attempts   map[string]*repeatable
	exists     bool
	deleted    time.Time
	purged     time.Time
	receipts   []receiptOfModel // every one that was given
}

// first is what a deduplication id was given to.
type first struct {
	id       string
	sequence string
	at       time.Time
}

// repeatable is an answer to a ReceiveRequestAttemptId.
type repeatable struct {
	at       time.Time
	receipts []string
}

// receiptOfModel is a receipt handle and what it was given for.
type receiptOfModel struct {
	handle   string
	id       string
	receives int
}

const (
	modelDedup = 5 * time.Minute
	modelRest  = time.Minute
)

// tick does what time does: delayed messages wake, visibility timeouts end, and what nobody received in time is
// dropped.
func (r *reference) tick(now time.Time) {
	for _, l := range r.letters {
		if !l.wakes.IsZero() && !l.wakes.After(now) {
			l.wakes = time.Time{}
		}
	}
	due := slices.Clone(r.letters)
	slices.SortStableFunc(due, func(a, b *letter) int { return a.visible.Compare(b.visible) })
	for _, l := range due {
		if l.flying && !l.visible.After(now) {
			r.lapse(l)
		}
	}
	r.expire(now)
}

// expire drops what nobody received in time.
func (r *reference) expire(now time.Time) {
	r.letters = slices.DeleteFunc(r.letters, func(l *letter) bool {
		return !l.flying && !l.expires.IsZero() &&
			!l.expires.After(now)
	})
}

// lapse makes a message visible again whose time is over, and of its group those that were handed out behind it and
// whose time is over, too.
func (r *reference) lapse(l *letter) {
	if r.fifo {
		for _, other := range r.letters {
			if other.group == l.group && other.sent > l.sent && other.flying &&
				!(other.apart && other.visible.After(l.visible)) {
				other.flying = false
				other.receives-- // it does not count against it
			}
		}
	}
	r.back(l)
}

// back makes a message visible again. One that has been received too often becomes a dead letter.
func (r *reference) back(l *letter) {
	l.flying = false
	if r.redrive > 0 && l.receives >= r.redrive {
		r.drop(l)
		if r.dead != nil && r.dead.exists {
			r.dead.sent++
			r.dead.letters = append(r.dead.letters, &letter{id: l.id, body: l.body, number: l.number, group: l.group,
				sent: r.dead.sent, receives: l.receives})
		}
	}
}

func (r *reference) drop(l *letter) {
	r.letters = slices.DeleteFunc(r.letters, func(other *letter) bool { return other == l })
}

// next is the message that a receive gets next; taken is what it got already.
func (r *reference) next(match func(int) bool, taken []*letter) *letter {
	if r.fifo && len(taken) > 0 { // all it can of a group, before the next
		group := taken[len(taken)-1].group
		if l := r.oldest(func(l *letter) bool { return l.group == group }, match, taken); l != nil {
			return l
		}
	}
	return r.oldest(func(*letter) bool { return true }, match, taken)
}

// oldest is the first of some that a receive can get.
func (r *reference) oldest(of func(*letter) bool, match func(int) bool, taken []*letter) *letter {
	blocked := map[string]bool{}
	for _, l := range r.letters {
		if r.fifo {
			if blocked[l.group] || slices.Contains(taken, l) {
				continue
			}
			if l.flying {
				blocked[l.group] = true
				continue
			}
			if !l.wakes.IsZero() {
				continue
			}
			blocked[l.group] = true
		}
		if of(l) && !l.flying && l.wakes.IsZero() && match(l.number) {
			return l
		}
	}
	return nil
}

// of returns the message of an id; nil when it is gone.
func (r *reference) of(id string) *letter {
	for _, l := range r.letters {
		if l.id == id {
			return l
		}
	}
	return nil
}

// codes are those of the errors that the reference answers with; "" is none.
const (
	codeGone     = "AWS.SimpleQueueService.NonExistentQueue"
	codeRecently = "AWS.SimpleQueueService.QueueDeletedRecently"
	codePurging  = "AWS.SimpleQueueService.PurgeQueueInProgress"
	codeInvalid  = "InvalidParameterValue"
	codeReceipt  = "ReceiptHandleIsInvalid"
	codeInflight = "AWS.SimpleQueueService.MessageNotInflight"
)

// deleteMessage does what a DeleteMessage does, and returns the code of its error.
func (r *reference) deleteMessage(h receiptOfModel) string {
	l := r.of(h.id)
	switch {
	case l == nil: // once more is no error
		return ""
	case l.flying && l.receipt == h.handle:
		r.forgetAttempts(h.handle)
		r.drop(l)
		return ""
	case r.fifo:
		return codeInvalid
	case !l.flying && l.receives == h.receives: // the newest handle, after its time
		r.drop(l)
	}
	return ""
}

// changeVisibility does what a ChangeMessageVisibility does, and returns the code of its error.
func (r *reference) changeVisibility(h receiptOfModel, timeout time.Duration, now time.Time) string {
	l := r.of(h.id)
	switch {
	case l != nil && !r.fifo && !l.flying: // nothing comes of it
	case l != nil && !r.fifo && timeout == 0: // also with an older handle
		r.back(l)
		r.expire(now)
	case l != nil && !r.fifo:
		l.visible = now.Add(timeout)
	case l == nil || l.flying && l.receipt != h.handle:
		return codeInvalid
	case !l.flying:
		return codeInflight
	case timeout == 0:
		r.forgetAttempts(h.handle)
		r.back(l)
		r.expire(now)
	default:
		r.forgetAttempts(h.handle)
		l.visible = now.Add(timeout)
	}
	return ""
}

// forgetAttempts forgets the answers in which a receipt handle was given: its message is not as it was.
func (r *reference) forgetAttempts(handle string) {
	for id, a := range r.attempts {
		if slices.Contains(a.receipts, handle) {
			delete(r.attempts, id)
		}
	}
}

// repeat is what a ReceiveRequestAttemptId gets again; nil when it does not.
func (r *reference) repeat(id string, now time.Time) []*letter {
	a := r.attempts[id]
	if a == nil || now.Sub(a.at) >= modelDedup {
		return nil
	}
	var same []*letter
	for _, receipt := range a.receipts {
		for _, l := range r.letters {
			if l.flying && l.receipt == receipt {
				same = append(same, l)
			}
		}
	}
	if len(same) != len(a.receipts) {
		return nil
	}
	return same
}

// counts are the three approximate numbers, which this door has exactly.
func (r *reference) counts() (visible, flying, delayed int) {
	for _, l := range r.letters {
		switch {
		case l.flying:
			flying++
		case !l.wakes.IsZero():
			delayed++
		default:
			visible++
		}
	}
	return visible, flying, delayed
}

// restart forgets what a restart of the door forgets.
func (r *reference) restart() {
	clear(r.attempts)
	for _, l := range r.letters {
		l.apart = false
	}
	r.deleted, r.purged = time.Time{}, time.Time{}
}

// remake makes the queue anew.
func (r *reference) remake() {
	r.exists, r.sent, r.letters = true, 0, nil
	r.dedup, r.attempts = map[string]first{}, map[string]*repeatable{}
	r.purged = time.Time{}
}
