package mysql

import (
	"context"
	"errors"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// eachSession calls f for every connection that is served now.
func (d *Server) eachSession(f func(*session)) {
	_ = d.sessions.Iter(func(s gms.Session) (stop bool, err error) { // its only error would be f's
		if s, ok := s.(*session); ok {
			f(s)
		}
		return false, nil
	})
}

// claimed is the row that a seat owns as it reads now, nil when it is no longer there.
func (d *Server) claimed(ctx context.Context, h *held) (*queue.Peeked, error) {
	p, err := d.store.Look(ctx, h.queue, h.claim.Sequence)
	if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, fromStore(err, h.queue.Name)
	}
	if p.State != queue.Claimed || p.Attempts != h.claim.Attempt {
		return nil, nil
	}
	return &p, nil
}

// columnsOf are the name of the table that the statement, a SHOW or DESCRIBE, names, and its columns: none when it
// cannot be told.
func (l *long) columnsOf(ctx context.Context, s *session) (queue.Name, message.Columns, error) {
	n, ok := l.tableOf(s)
	if !ok {
		return n, nil, nil
	}
	n, def, _, err := l.door.find(ctx, n)
	return n, def.Columns, absent(err)
}

// tableOf is the table that the statement, a SHOW or DESCRIBE, names. false: it cannot be told.
func (l *long) tableOf(s *session) (n queue.Name, ok bool) {
	parsed, err := sqlparser.Parse(l.query)
	if err != nil {
		return n, false
	}
	show, ok := parsed.(*sqlparser.Show)
	if !ok {
		return n, false
	}
	if n, err = s.queueOf(show.Table); err != nil && show.Database == "" {
		return n, false
	}
	if show.Database != "" {
		n.Namespace = show.Database
	}
	return n, true
}

// removeAll takes away what nobody owns now.
func (d *Server) removeAll(ctx context.Context, n queue.Name) (removed int, err error) {
	st, err := d.store.Stats(ctx, n)
	if err != nil {
		return 0, err
	}
	var after uint64
	for {
		page, err := d.store.Peek(ctx, n, queue.PeekRequest{After: after, Max: d.maxRows, NoBody: true})
		if err != nil {
			return removed, err
		}
		var some []uint64
		for _, p := range page {
			if after = p.Sequence; p.State != queue.Claimed && p.Sequence < st.NextSequence {
				some = append(some, p.Sequence)
			}
		}
		k, err := d.store.Remove(ctx, n, some)
		if removed += k; err != nil || len(page) < d.maxRows || after >= st.NextSequence {
			return removed, err
		}
	}
}

// find finds the queue that a client means, of that name, or the only one whose name differs in case alone: its name,
// its definition, and a number that changes when that does. When there is none the error is one that absent knows, and
// the name is the client's.
func (d *Server) find(ctx context.Context, n queue.Name) (queue.Name, queue.Definition, uint64, error) {
	def, version, err := d.store.Definition(ctx, n)
	if err == nil || absent(err) != nil {
		return n, def, version, err
	}
	all, failed := d.store.Queues(ctx)
	if failed != nil {
		return n, def, version, failed
	}
	mine := d.store.Resolve(n)
	var found []queue.Name
	for _, q := range all {
		if q.Namespace == mine.Namespace && strings.EqualFold(q.Name, n.Name) {
			found = append(found, q)
		}
	}
	if len(found) != 1 {
		return n, def, version, err
	}
	def, version, err = d.store.Definition(ctx, found[0])
	return found[0], def, version, err
}

// lookup is the name of the queue that find finds; n when there is none.
func (d *Server) lookup(ctx context.Context, n queue.Name) (queue.Name, error) {
	n, _, _, err := d.find(ctx, n)
	return n, absent(err)
}

// has tells whether there is a queue of that very name.
func (d *Server) has(ctx context.Context, n queue.Name) (bool, error) {
	_, _, err := d.store.Definition(ctx, n)
	return err == nil, absent(err)
}

// absent turns "no such queue" into no error. What is left is none that a statement may pass over: whether there is
// such a queue is not known.
func absent(err error) error {
	if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrBadName) {
		return nil
	}
	return fromStore(err, "")
}
