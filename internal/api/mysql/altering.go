package mysql

import (
	"context"

	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// altering gathers the parts of an ALTER TABLE, which go-mysql-server does one after the other: all of them take effect
// at once, or none. A nil one is of no table.
type altering struct {
	begun   bool
	table   queue.Name
	def     queue.Definition // as it will be
	from    []int            // where each column comes from, among those there are now
	version uint64           // of the definition that there is now
}

// of tells whether it is that table which is being altered, and some part is known.
func (a *altering) of(n queue.Name) bool { return a != nil && a.begun && a.table == n }

// add adds a part: def and from are over what the parts before have made of t.
func (a *altering) add(t *table, def queue.Definition, from []int) {
	if !a.of(t.name) {
		a.begun, a.table, a.version, a.from = true, t.name, t.version, places(len(t.def.Columns))
	}
	now := make([]int, len(from))
	for i, f := range from {
		if now[i] = -1; f >= 0 {
			now[i] = a.from[f]
		}
	}
	a.def, a.from = def, now
}

// gather lets the parts of the statement be gathered; they take effect before it is answered.
func (l *long) gather(ctx context.Context, s *session) {
	if l.answer == nil {
		return
	}
	answer := l.answer
	l.begin = func() { s.altering = &altering{} }
	l.end = func() { s.altering = nil }
	l.answer = func(r *sqltypes.Result, more bool) error {
		if a := s.altering; a != nil && a.begun {
			a.begun = false
			if err := l.door.store.AlterColumns(ctx, a.table, a.def, a.from, a.version); err != nil {
				return sqlErrorOf(fromStoreOf(err, a.table))
			}
		}
		return answer(r, more)
	}
}
