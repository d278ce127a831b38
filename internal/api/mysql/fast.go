package mysql

import (
	"context"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/charset"
	"github.com/hikyaku/hikyaku/internal/api/mysql/short"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// short answers a statement on the short path, around the planner. done is false when it has to go the long way: it was
// not recognized, or is not one that the short path is sure to answer as the long way would; then nothing was done.
// Errors in values are left to the long way, so that there is one text of each.
func (h *handler) short(ctx context.Context, c *vmysql.Conn, query string, bound *vmysql.PrepareData,
	answer vmysql.ResultSpoolFn) (done bool, err error) {
	if h.door.noShort {
		return false, nil
	}
	st, ok := short.Parse(query, short.Mode{})
	if !ok || (bound == nil) != (st.Placeholders == 0) && st.Placeholders > 0 {
		return false, nil
	}
	s := known(c)
	if s == nil || !s.plain {
		return false, nil
	}
	b := bindings{bound, s.text.client}
	switch st.Verb {
	case short.Insert:
		return h.shortInsert(gms.NewContext(ctx, gms.WithSession(s)), c, s, &st, b, answer)
	case short.Select:
		if s.limits {
			return false, nil
		}
		return h.shortSelect(ctx, c, query, s, &st, answer)
	}
	args := make([]argument, len(st.Args))
	for i, a := range st.Args {
		if args[i], ok = b.argument(a); !ok {
			return false, nil
		}
	}
	s.ClearWarnings()
	var n int64
	ok = true
	switch st.Verb {
	case short.Wait:
		watch := s.waiting
		s.waiting = func(ctx context.Context) (context.Context, func()) {
			_, sc, err := h.session(ctx, c)
			if err != nil {
				return watch(ctx)
			}
			listed, err := h.door.processes.BeginQuery(sc, query)
			if err != nil {
				return watch(ctx)
			}
			watched, over := watch(listed)
			return watched, func() {
				over()
				h.door.processes.EndQuery(listed)
			}
		}
		n, ok, err = s.queueWait(ctx, args)
		s.waiting = watch
	case short.End:
		n, err = s.queueEnd(ctx)
	case short.Abort:
		n, err = s.queueAbort(ctx)
	case short.RowID:
		n, ok, err = s.queueRowID()
	case short.SetSource:
		n, ok = 1, s.setSource(args[0], args[1], args[2])
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	s.border.tell(c)
	value := sqltypes.NULL
	if ok {
		value = sqltypes.MakeTrusted(sqltypes.Int64, strconv.AppendInt(nil, n, 10))
	}
	return true, answer(&sqltypes.Result{
		Fields:       []*querypb.Field{number(st.Label)},
		Rows:         [][]sqltypes.Value{{value}},
		RowsAffected: 1,
	}, false)
}

// number is the field of a function's answer.
func number(label string) *querypb.Field {
	return &querypb.Field{Name: label, OrgName: label, Type: sqltypes.Int64, Charset: uint32(gms.Collation_binary),
		ColumnLength: 20, Flags: uint32(querypb.MySqlFlag_BINARY_FLAG)}
}

// bindings are the values of a prepared statement's placeholders.
type bindings struct {
	data   *vmysql.PrepareData
	client *charset.Set // what texts were in before they were UTF-8; nil: the same
}

// raw are the bytes that the client sent of a text.
func (b bindings) raw(text []byte) []byte {
	if b.client == nil {
		return text
	}
	return b.client.Encode(text)
}

func (b bindings) get(index int) (typ querypb.Type, value []byte, ok bool) {
	if b.data == nil {
		return 0, nil, false
	}
	v, ok := b.data.BindVars["v"+strconv.Itoa(index+1)]
	if !ok || v == nil {
		return 0, nil, false
	}
	return v.Type, v.Value, true
}

// argument is an argument of a function.
func (b bindings) argument(v short.Value) (argument, bool) {
	switch v.Kind {
	case short.Null:
		return argument{null: true}, true
	case short.Placeholder:
		typ, value, ok := b.get(v.Index())
		if !ok {
			return argument{}, false
		}
		return argument{text: string(value), null: typ == sqltypes.Null}, true
	case short.String, short.Integer:
		return argument{text: v.Text()}, true
	}
	return argument{}, false
}

// shortTable is the table that a statement names, if there is one that the user may know of.
func (h *handler) shortTable(ctx *gms.Context, s *session, st *short.Statement) (*table, bool) {
	db := st.Database
	if db == "" {
		db = s.GetCurrentDatabase()
	}
	if db == "" || !h.door.hasDatabase(db) {
		return nil, false
	}
	n := queue.Name{Namespace: db, Name: st.Table}
	if !h.door.users.Visible(s.user, h.door.store.Resolve(n)) {
		return nil, false
	}
	t, err := h.door.table(ctx, db, n)
	return t, err == nil
}

// shortInsert puts the rows of an INSERT whose values need no more than a look at their type and length.
func (h *handler) shortInsert(ctx *gms.Context, c *vmysql.Conn, s *session, st *short.Statement, b bindings,
	answer vmysql.ResultSpoolFn) (done bool, err error) {
	t, ok := h.shortTable(ctx, s, st)
	if !ok || t.plain() || st.Len() > h.door.maxRows || s.may(access.Put, t.name, "INSERT") != nil {
		return false, nil
	}
	from, ok := t.sources(st)
	if !ok {
		return false, nil
	}
	rows := make([]message.Message, st.Len())
	values := make([]message.Value, len(rows)*len(t.columns))
	for i := range rows {
		row := values[i*len(t.columns) : (i+1)*len(t.columns) : (i+1)*len(t.columns)]
		given := st.Row(i)
		for n := range t.columns {
			c := &t.columns[n]
			switch {
			case from[n] >= 0:
				if row[n], ok = b.value(c, given[from[n]]); !ok {
					return false, nil
				}
			default:
				if row[n], err = c.Missing(time.Now()); err != nil {
					return false, nil
				}
			}
		}
		rows[i].Row = row
	}
	s.ClearWarnings()
	s.border.changed()
	switch err := s.put(ctx, t, rows); {
	case errors.Is(err, queue.ErrChanged): // the long way looks at the table anew
		return false, nil
	case err != nil:
		return true, fromStoreOf(err, t.name)
	}
	s.GetLastQueryInfo().RowCount.Store(int64(len(rows)))
	s.border.tell(c)
	return true, answer(&sqltypes.Result{RowsAffected: uint64(len(rows))}, false)
}

// sources tells for each column of the table which of a row's values is its, -1 for one that is not given.
func (t *table) sources(st *short.Statement) (from []int, ok bool) {
	from = make([]int, len(t.columns))
	if st.Columns == nil {
		for i := range from {
			from[i] = i
		}
		return from, st.Width() == len(from)
	}
	for i := range from {
		from[i] = -1
	}
	for i, name := range st.Columns {
		n, ok := t.columns.Lookup(name)
		if !ok || from[n] >= 0 {
			return nil, false
		}
		from[n] = i
	}
	return from, true
}

// value is a column's value of what was written or bound, if it takes no conversion.
func (b bindings) value(c *message.Column, v short.Value) (message.Value, bool) {
	switch v.Kind {
	case short.Null:
		return message.Null(), !c.NotNull
	case short.Integer:
		n, ok := v.Int()
		return integer(c, n, ok)
	case short.String:
		if c.Type.IsBytes() {
			return fitting(c, b.raw(v.Append(make([]byte, 0, v.Size()))))
		}
		return text(c, v.Text())
	case short.Hex:
		if c.Type.IsBytes() {
			return fitting(c, v.Append(make([]byte, 0, v.Size())))
		}
		return message.Value{}, false
	case short.Placeholder:
		typ, value, ok := b.get(v.Index())
		switch {
		case !ok:
			return message.Value{}, false
		case typ == sqltypes.Null:
			return message.Null(), !c.NotNull
		case sqltypes.IsIntegral(typ):
			n, err := strconv.ParseInt(string(value), 10, 64)
			return integer(c, n, err == nil)
		case typ == sqltypes.VarChar || typ == sqltypes.Text || typ == sqltypes.VarBinary || typ == sqltypes.Blob:
			if c.Type.IsBytes() && spokenParameter(b.data, v.Index()) {
				return fitting(c, b.raw(value))
			}
			if c.Type.IsBytes() {
				return fitting(c, value)
			}
			return text(c, string(value))
		}
	}
	return message.Value{}, false
}

// integer is a value of an integer column that lies in its range.
func integer(c *message.Column, n int64, ok bool) (message.Value, bool) {
	if !ok || !c.Type.IsInteger() || c.Type == message.TypeBit || c.Type == message.TypeYear {
		return message.Value{}, false
	}
	v, err := c.Convert(message.Int(n))
	return v, err == nil
}

// text is a value of a text column that is no longer than the column takes.
func text(c *message.Column, s string) (message.Value, bool) {
	if !c.Type.IsText() || c.Type == message.TypeChar || !utf8.ValidString(s) {
		return message.Value{}, false
	}
	v, err := c.Convert(message.String(s))
	return v, err == nil
}

// fitting is a value of a binary column that is no longer than the column takes.
func fitting(c *message.Column, b []byte) (message.Value, bool) {
	if c.Type == message.TypeBinary {
		return message.Value{}, false
	}
	v, err := c.Convert(message.Bytes(b))
	return v, err == nil
}
