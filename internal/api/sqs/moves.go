package sqs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// move is a message-move task as it is kept in a note. A task that was under way when the process ended goes on in the
// next.
type move struct {
	ID      string     `json:"id"`
	Source  queue.Name `json:"source"`
	To      queue.Name `json:"to,omitzero"` // zero: to where each message came from
	Rate    int        `json:"rate,omitempty"`
	Started int64      `json:"started"` // milliseconds since 1970
	Status  string     `json:"status"`
	Moved   int64      `json:"moved"`
	ToMove  int64      `json:"to_move"`
	Reason  string     `json:"reason,omitempty"` // FAILED
}

// The states of a task.
const (
	moveRunning    = "RUNNING"
	moveCompleted  = "COMPLETED"
	moveCancelling = "CANCELLING"
	moveCancelled  = "CANCELLED"
	moveFailed     = "FAILED"
)

const (
	// movePrefix begins the keys of tasks' notes: move/NAMESPACE/NAME/ID.
	movePrefix = "move/"
	// slotPrefix begins those of the notes that say which task of a queue is under way: moving/NAMESPACE/NAME.
	slotPrefix = "moving/"
	// maxMoves is how many tasks may be under way at once.
	maxMoves = 100
	// maxMoveHistory is how many tasks of a queue are remembered.
	maxMoveHistory = 10
	// moveStep is how many messages a task without a rate moves at a time.
	moveStep = 1000
	// moveSave is how often a task's progress is written down, at most: what was moved since is moved, and only not
	// counted.
	moveSave = time.Second
	// moveRetry is how long a task waits when its queue has no room, or the store is unavailable.
	moveRetry = time.Second
)

// moves are the tasks of the door.
type moves struct {
	mu      sync.Mutex
	running map[queue.Name]*moving // by source
}

// keptMove is a task as its note has it.
type keptMove struct {
	move
	Value []byte // of the note
}

// moving is a task under way.
type moving struct {
	mu     sync.Mutex
	move   move
	kept   keptMove // of whoever carries it
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended, and that is kept
}

func (x *moving) get() move {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.move
}

func (x *moving) set(edit func(*move)) move {
	x.mu.Lock()
	defer x.mu.Unlock()
	edit(&x.move)
	return x.move
}

var (
	errMoveRunning   = errors.New("a task of that queue is under way")
	errNoDestination = errors.New("the destination is not there any more")
	errMovesFull     = errors.New("too many tasks are under way")
)

// begin starts a task. The door's Close ends it, and the next Start takes it up again.
func (d *Server) begin(m keptMove) error {
	d.moves.mu.Lock()
	defer d.moves.mu.Unlock()
	switch {
	case d.stopping.Err() != nil:
		return door.ErrClosed
	case d.moves.running[m.Source] != nil:
		return errMoveRunning
	case len(d.moves.running) >= maxMoves:
		return errMovesFull
	}
	if d.moves.running == nil {
		d.moves.running = map[queue.Name]*moving{}
	}
	ctx, cancel := context.WithCancel(d.stopping)
	x := &moving{move: m.move, kept: m, cancel: cancel, done: make(chan struct{})}
	d.moves.running[m.Source] = x
	d.work.Go(func() {
		defer cancel()
		end := d.carry(ctx, x)
		d.saveMove(x, &end) // before anybody can see it: who sees that a task has ended may start the next
		d.moves.mu.Lock()
		if d.moves.running[m.Source] == x {
			delete(d.moves.running, m.Source)
		}
		d.moves.mu.Unlock()
		x.set(func(m *move) { *m = end })
		close(x.done)
	})
	return nil
}

// of is the task under way of a queue; nil if there is none.
func (ms *moves) of(n queue.Name) *moving {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.running[n]
}

// end cancels the task and waits until that is kept, or ctx ends.
func (x *moving) end(ctx context.Context) move {
	x.set(func(m *move) {
		if m.Status == moveRunning {
			m.Status = moveCancelling
		}
	})
	x.cancel()
	select {
	case <-x.done:
	case <-ctx.Done():
	}
	return x.get()
}

// carry moves messages until all are moved, or ctx ends, and tells what the task has come to.
func (d *Server) carry(ctx context.Context, x *moving) move {
	saved := time.Now()
	for {
		m := x.get()
		done, err := d.carrySome(ctx, x, &m)
		m = x.get()
		switch {
		case ctx.Err() != nil && m.Status == moveRunning: // the door closes: the next start goes on
			return m
		case ctx.Err() != nil:
			m.Status = moveCancelled
			return m
		case err != nil:
			m.Status, m.Reason = moveFailed, reason(err)
			return m
		case done:
			m.Status = moveCompleted
			return m
		}
		if m.Moved != x.kept.Moved && time.Since(saved) > moveSave {
			d.saveMove(x, &m)
			saved = time.Now()
		}
		if m.Moved < m.ToMove && !d.goesOn(ctx, x, &m) {
			return m
		}
		x.set(func(now *move) { now.Moved = m.Moved })
	}
}

// goesOn tells whether no other process has ended a task, and what it moved. When that cannot be asked, the next step
// waits until the store is there.
func (d *Server) goesOn(ctx context.Context, x *moving, m *move) bool {
	switch there, err := d.lookAfter(ctx, x, m); {
	case err != nil:
		return true
	case there && x.kept.Status == moveRunning:
		return true
	}
	if m.Status == moveCancelling {
		m.Status = moveCancelled
	}
	return false
}

// reason tells why a task failed, by the code of an error where the service does so.
func reason(err error) string {
	if e := wire.QueueDoesNotExist(); errors.Is(err, errNoDestination) || errors.Is(err, queue.ErrNotFound) {
		return e.Code
	}
	return err.Error()
}

// carrySome moves some messages, and waits as long as the rate of the task wants.
func (d *Server) carrySome(ctx context.Context, x *moving, m *move) (done bool, err error) {
	left := m.ToMove - m.Moved
	if left <= 0 {
		return true, nil
	}
	step, rest := min(moveStep, left), time.Duration(0)
	if m.Rate > 0 {
		step = min(int64(max(1, m.Rate/10)), left)
		rest = time.Duration(step) * time.Second / time.Duration(m.Rate)
	}
	r, err := d.replay(ctx, m, int(step))
	x.set(func(m *move) { m.Moved += int64(r.Moved) })
	switch {
	case errors.Is(err, queue.ErrQueueFull), errors.Is(err, queue.ErrNoRoom), errors.Is(err, queue.ErrUnavailable):
		rest = moveRetry
	case err != nil:
		return false, err
	case r.Moved == 0 && r.Homeless > 0:
		return false, errors.New("CouldNotDetermineMessageSource: what is left came from no other queue; name a " +
			"destination")
	case r.Moved == 0:
		return true, nil
	}
	if rest == 0 {
		return false, nil
	}
	timer := time.NewTimer(rest) // a rate is a promise about the clock
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return false, nil
}

// replay moves up to some messages at once.
func (d *Server) replay(ctx context.Context, m *move, most int) (queue.Replayed, error) {
	r := queue.ReplayRequest{Max: most, To: m.To, Existing: m.To != (queue.Name{})}
	if r.Existing {
		if v, err := d.view(ctx, m.To); err != nil {
			return queue.Replayed{}, err
		} else if v == nil {
			return queue.Replayed{}, errNoDestination
		}
	}
	return d.store.Replay(ctx, m.Source, r)
}
