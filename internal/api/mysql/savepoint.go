package mysql

import (
	"context"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// maxPoints is how many savepoints a transaction may have.
const maxPoints = 10_000

// savepoint keeps the names of savepoints, and refuses to go back to one that is none or to release it. Nothing else is
// behind them: effects are immediate.
func (l *long) savepoint(s *session) error {
	if l.answer == nil {
		return nil
	}
	st, _, err := sqlparser.ParseOne(context.Background(), l.query)
	if err != nil {
		return nil
	}
	switch st := st.(type) {
	case *sqlparser.Savepoint:
		return s.border.point(st.Identifier)
	case *sqlparser.RollbackSavepoint:
		return s.border.backTo(st.Identifier, true)
	case *sqlparser.ReleaseSavepoint:
		return s.border.backTo(st.Identifier, false)
	}
	return nil
}

// point sets a savepoint, in the place of an older one of its name. Outside of a transaction it ends with its
// statement.
func (b *border) point(name string) error {
	if !b.explicit && b.autocommit {
		return nil
	}
	if i := b.pointOf(name); i >= 0 {
		b.points = slices.Delete(b.points, i, i+1)
	}
	if len(b.points) == maxPoints {
		return sqlError(erCapacity, "HY000", "A transaction may have %d savepoints: release some", maxPoints)
	}
	b.points = append(b.points, name)
	return nil
}

// backTo drops the savepoints behind one, and the one itself unless it is kept.
func (b *border) backTo(name string, kept bool) error {
	i := b.pointOf(name)
	if i < 0 {
		return sqlError(1305, "42000", "SAVEPOINT %s does not exist", name)
	}
	if kept {
		i++
	}
	b.points = b.points[:i]
	return nil
}

func (b *border) pointOf(name string) int {
	return slices.IndexFunc(b.points, func(p string) bool { return strings.EqualFold(p, name) })
}
