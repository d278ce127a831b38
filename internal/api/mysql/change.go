package mysql

import (
	"fmt"

	gms "github.com/dolthub/go-mysql-server/sql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Inserter gathers the rows of one INSERT and puts them as one group: all or none.
func (t *table) Inserter(*gms.Context) gms.RowInserter { return &inserter{t: t} }

type inserter struct {
	statement
	t     *table
	rows  []message.Message
	bytes int
}

func (i *inserter) Insert(ctx *gms.Context, row gms.Row) error {
	if len(i.rows) == 0 {
		if err := sessionOf(ctx).may(access.Put, i.t.name, "INSERT"); err != nil {
			return err
		}
	}
	if len(i.rows) >= i.t.door.maxRows {
		return sqlError(erTooBigRow, "42000", "An INSERT into '%s' takes at most %d rows (all of them are one "+
			"durable group)", i.t.name.Name, i.t.door.maxRows)
	}
	if m := sessionOf(ctx).meter; m != nil && m.err != nil {
		return m.err
	}
	values := make([]message.Value, len(row))
	for n, v := range row {
		value, err := fromSQL(ctx, v)
		if err != nil {
			return sqlError(erWrongValue, "22007", "column '%s' of '%s': %v", i.t.columns[n].Name, i.t.name.Name, err)
		}
		values[n] = value
	}
	m, err := i.t.message(values)
	if err != nil {
		return fromStoreOf(err, i.t.name)
	}
	if i.bytes += m.Size(); i.bytes > settings.MaxPacket {
		return sqlError(erTooBigRow, "42000", "An INSERT into '%s' takes at most %d bytes (all of its rows are one "+
			"durable group)", i.t.name.Name, settings.MaxPacket)
	}
	i.rows = append(i.rows, m)
	return nil
}

func (i *inserter) DiscardChanges(*gms.Context, error) error {
	i.rows, i.bytes = nil, 0
	return nil
}

func (i *inserter) StatementComplete(ctx *gms.Context) error {
	rows := i.rows
	i.rows, i.bytes = nil, 0
	s := sessionOf(ctx)
	if len(rows) > 0 {
		s.border.changed()
	}
	return fromStore(s.put(ctx, i.t, rows), i.t.name.Name)
}

func (i *inserter) Close(ctx *gms.Context) error { return i.StatementComplete(ctx) }

// message makes what is put of the values of a row.
func (t *table) message(values []message.Value) (message.Message, error) {
	if len(values) != len(t.columns) {
		return message.Message{}, fmt.Errorf("%d values for %d columns", len(values), len(t.columns))
	}
	row := make([]message.Value, len(values))
	for i, v := range values {
		c, err := t.columns[i].Convert(v)
		if err != nil {
			return message.Message{}, err
		}
		row[i] = c
	}
	if !t.plain() {
		return message.Message{Row: row}, nil
	}
	for _, i := range []int{plainID, plainEnqueuedAt} {
		if !row[i].IsNull() {
			return message.Message{},
				&message.ColumnError{Column: t.columns[i].Name, Reason: "the queue makes it: leave it out"}
		}
	}
	if row[plainAttempts].AsInt() != 0 {
		return message.Message{}, &message.ColumnError{Column: t.columns[plainAttempts].Name,
			Reason: "the queue makes it: leave it out"}
	}
	m := message.Message{Body: []byte(row[plainBody].AsString()), Key: row[plainKey].AsString()}
	if text := row[plainAttributes].AsString(); text != "" {
		if err := m.Attributes.UnmarshalJSON([]byte(text)); err != nil {
			return message.Message{}, &message.ColumnError{Column: t.columns[plainAttributes].Name, Reason: err.Error()}
		}
	}
	return m, nil
}

// statement is what no editor of a table has to do at a statement's borders.
type statement struct{}

func (statement) StatementBegin(*gms.Context)              {}
func (statement) DiscardChanges(*gms.Context, error) error { return nil }
func (statement) StatementComplete(*gms.Context) error     { return nil }
func (statement) Close(*gms.Context) error                 { return nil }

// Deleter removes rows that nobody owns; in owner mode the row that is owned.
func (t *table) Deleter(*gms.Context) gms.RowDeleter { return &deleter{t: t} }

type deleter struct {
	statement
	t         *table
	sequences []uint64
}

func (d *deleter) Delete(ctx *gms.Context, row gms.Row) error {
	if len(d.sequences) == 0 {
		if err := sessionOf(ctx).may(access.Take, d.t.name, "DELETE"); err != nil {
			return err
		}
	}
	p, ok := placeOf(row)
	if !ok || p.table != d.t.name {
		return sqlError(erUnsupported, "42000", "this DELETE cannot tell the rows of '%s' apart: write it with "+
			"WHERE, ORDER BY and LIMIT on that table alone", d.t.name.Name)
	}
	d.sequences = append(d.sequences, p.sequence)
	return nil
}

func (d *deleter) DiscardChanges(*gms.Context, error) error {
	d.sequences = nil
	return nil
}

func (d *deleter) StatementComplete(ctx *gms.Context) error {
	sequences := d.sequences
	d.sequences = nil
	if len(sequences) == 0 {
		return nil
	}
	s := sessionOf(ctx)
	s.border.changed()
	if mode, _ := s.seat.now(); mode {
		lost, err := s.seat.remove(ctx)
		return fromStore(s.told(lost, err), d.t.name.Name)
	}
	_, err := d.t.door.store.Remove(ctx, d.t.name, sequences)
	return fromStoreOf(err, d.t.name)
}

func (d *deleter) Close(ctx *gms.Context) error { return d.StatementComplete(ctx) }

// Truncate empties the table. go-mysql-server calls it for a DELETE without a WHERE, too, which leaves what others own.
func (t *table) Truncate(ctx *gms.Context) (int, error) {
	s := sessionOf(ctx)
	truncate := firstWord(ctx.Query()) == "truncate"
	action, verb := access.Take, "DELETE"
	if truncate {
		action, verb = access.Admin, "DROP"
	}
	if err := s.may(action, t.name, verb); err != nil {
		return 0, err
	}
	s.border.changed()
	if truncate {
		n, err := t.door.store.Purge(ctx, t.name)
		return n, fromStoreOf(err, t.name)
	}
	if mode, h := s.seat.now(); mode {
		own, err := t.own(ctx, h)
		if err != nil || own == nil {
			return 0, err
		}
		lost, err := s.seat.remove(ctx)
		return 1, fromStore(s.told(lost, err), t.name.Name)
	}
	n, err := t.door.removeAll(ctx, t.name)
	return n, fromStoreOf(err, t.name)
}

// Replacer and Updater refuse: a row in a queue is put and taken, never changed.
func (t *table) Replacer(*gms.Context) gms.RowReplacer { return refuser{t.name.Name, "REPLACE"} }
func (t *table) Updater(*gms.Context) gms.RowUpdater   { return refuser{t.name.Name, "UPDATE"} }

type refuser struct{ table, verb string }

func (r refuser) refusal() error {
	return sqlError(erNotAllowedEngine, "42000",
		"The storage engine QUEUE does not support %s: rows of '%s' are put and taken, never changed (take the row "+
			"with queue_wait(), INSERT it anew, then queue_end())", r.verb, r.table)
}

func (r refuser) StatementBegin(*gms.Context)                 {}
func (r refuser) DiscardChanges(*gms.Context, error) error    { return nil }
func (r refuser) StatementComplete(*gms.Context) error        { return nil }
func (r refuser) Close(*gms.Context) error                    { return nil }
func (r refuser) Insert(*gms.Context, gms.Row) error          { return r.refusal() }
func (r refuser) Delete(*gms.Context, gms.Row) error          { return r.refusal() }
func (r refuser) Update(*gms.Context, gms.Row, gms.Row) error { return r.refusal() }

// CreateIndex, DropIndex and RenameIndex refuse: a queue has none to be named.
func (t *table) CreateIndex(*gms.Context, gms.IndexDef) error {
	return sqlError(erNotAllowedEngine, "42000", "The storage engine QUEUE has no declared indexes: '%s' makes its "+
		"own for the conditions that queue_wait() names", t.name.Name)
}

func (t *table) DropIndex(ctx *gms.Context, _ string) error {
	return t.CreateIndex(ctx, gms.IndexDef{})
}

func (t *table) RenameIndex(ctx *gms.Context, _, _ string) error {
	return t.CreateIndex(ctx, gms.IndexDef{})
}
