package mysql

import (
	"context"
	"errors"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// rename is RENAME TABLE and ALTER TABLE … RENAME: all of the pairs or none, also into another database, which
// go-mysql-server passes over.
func (l *long) rename(sc *gms.Context, s *session, d *sqlparser.DDL) error {
	if l.answer == nil {
		return nil
	}
	type pair struct{ from, to queue.Name }
	var done []pair
	for i := range d.FromTables {
		from, err := s.queueOf(d.FromTables[i])
		if err == nil {
			var to queue.Name
			if to, err = s.queueOf(d.ToTables[i]); err == nil {
				if err = l.door.rename(sc, s, from, to); err == nil {
					done = append(done, pair{from, to})
					continue
				}
			}
		}
		for n := len(done) - 1; n >= 0; n-- {
			err = errors.Join(err, l.door.rename(sc, s, done[n].to, done[n].from))
		}
		return err
	}
	s.ClearWarnings()
	return l.answerOK()
}

// queueOf is the queue that a statement names.
func (s *session) queueOf(t sqlparser.TableName) (queue.Name, error) {
	n := queue.Name{Namespace: t.DbQualifier.String(), Name: t.Name.String()}
	if n.Namespace == "" {
		n.Namespace = s.GetCurrentDatabase()
	}
	if n.Namespace == "" {
		return n, gms.ErrNoDatabaseSelected.New()
	}
	return n, nil
}

// RenameTable is go-mysql-server's, for an ALTER TABLE that renames among other things.
func (d *database) RenameTable(ctx *gms.Context, from, to string) error {
	return d.door.rename(ctx, sessionOf(ctx), queue.Name{Namespace: d.name, Name: from},
		queue.Name{Namespace: d.name, Name: to})
}

// rename renames a queue with everything in it. Who owns a row of it goes on owning it, and a source's marks go along.
func (d *Server) rename(ctx context.Context, s *session, from, to queue.Name) error {
	from, err := d.lookup(ctx, from)
	if err != nil {
		return err
	}
	named := from // as the client does
	from = d.store.Resolve(from)
	if !d.users.Visible(s.user, from) {
		return fromStoreOf(queue.ErrNotFound, named)
	}
	for _, n := range []queue.Name{from, to} {
		if err := s.may(access.Admin, n, "ALTER"); err != nil {
			return err
		}
	}
	to = d.store.Resolve(to)
	d.naming.Lock()
	defer d.naming.Unlock()
	if there, err := d.has(ctx, to); err != nil {
		return err
	} else if there && to != from {
		return sqlError(erTableExists, "42S01", "Table '%s' already exists", to.Name)
	}
	if _, _, err := d.store.Definition(ctx, from); err != nil {
		return fromStoreOf(err, named)
	}
	// The marks are there under the new name before it is the table's, and stay under the old one for as long as that
	// is.
	if err := d.copyMarks(ctx, from, to); err != nil {
		return fromStore(err, to.Name)
	}
	if err := d.store.RenameQueue(ctx, from, to); err != nil {
		if to != from {
			err = errors.Join(fromStore(err, to.Name), d.forgetMarks(ctx, to))
		}
		return fromStore(err, to.Name)
	}
	if to == from {
		return nil
	}
	d.eachSession(func(s *session) { s.seat.renamed(from, to) })
	return fromStore(d.forgetMarks(ctx, from), to.Name)
}
