package mysql

import (
	"context"
	"errors"
	"io"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/short"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// shortSelect shows the owned row, or outside of owner mode what nobody owns. Rows go out as they are read:
// go-mysql-server would gather more than a thousand of them, whatever their size.
func (h *handler) shortSelect(ctx context.Context, c *vmysql.Conn, query string, s *session, st *short.Statement,
	answer vmysql.ResultSpoolFn) (done bool, err error) {
	sc := gms.NewContext(ctx, gms.WithSession(s))
	t, ok := h.shortTable(sc, s, st)
	if !ok || s.may(access.Take, t.name, "SELECT") != nil {
		return false, nil
	}
	out := &spool{t: t, answer: answer}
	if !out.choose(sc, st.Columns) {
		return false, nil
	}
	s.ClearWarnings()
	s.border.read()
	s.border.tell(c)
	mode, held := s.seat.now()
	if !mode {
		return h.shortRows(ctx, c, query, out)
	}
	own, err := t.own(sc, held)
	if err != nil {
		return true, err
	}
	if own != nil {
		row, err := t.row(sc, own)
		if err != nil {
			return true, err
		}
		if err := out.add(sc, row); err != nil {
			return true, err
		}
	}
	return true, out.flush(true)
}

// shortRows sends what nobody owns. A table that is altered before anything was sent is the long way's.
func (h *handler) shortRows(ctx context.Context, c *vmysql.Conn, query string, out *spool) (done bool, err error) {
	_, sc, err := h.session(ctx, c)
	if err != nil {
		return true, err
	}
	if sc, err = h.door.processes.BeginQuery(sc, query); err != nil { // it may take long, and be killed
		return true, err
	}
	defer h.door.processes.EndQuery(sc)
	from := &rows{t: out.t, hold: &door.Hold{Of: h.door.budget, Traffic: h.door.traffic.of}}
	defer from.hold.End()
	for {
		row, err := from.Next(sc)
		switch {
		case errors.Is(err, io.EOF):
			return true, out.flush(true)
		case errors.Is(err, errReshaped) && !out.sent:
			return false, nil
		case err == nil:
			err = sc.Err()
		}
		if err == nil {
			err = out.add(sc, row)
		}
		if err != nil {
			return true, fromStoreOf(err, out.t.name)
		}
	}
}

// spool sends rows in bundles.
type spool struct {
	t      *table
	answer vmysql.ResultSpoolFn
	which  []int // the columns that are shown
	fields []*querypb.Field
	rows   [][]sqltypes.Value
	bytes  int
	sent   bool
}

// A bundle has that many rows or bytes, whichever come first.
const (
	bundleRows  = 128
	bundleBytes = 256 << 10
)

// choose takes the columns that a statement names, nil for all. ok is false when one is written otherwise than it is
// called: the answer's label would be.
func (o *spool) choose(ctx *gms.Context, names []string) (ok bool) {
	all := o.t.fields(ctx)
	if names == nil {
		o.fields, o.which = all, places(len(all))
		return true
	}
	for _, name := range names {
		i, ok := o.t.columns.Lookup(name)
		if !ok || o.t.columns[i].Name != name {
			return false
		}
		o.which, o.fields = append(o.which, i), append(o.fields, all[i])
	}
	return true
}

func (o *spool) add(ctx *gms.Context, row gms.Row) (err error) {
	values := make([]sqltypes.Value, len(o.which))
	var length int64
	for i, w := range o.which {
		if row[w] == nil {
			continue
		}
		if length += valueBytes(row[w]); length > o.t.door.config.MaxPacketBytes {
			return fitsPacket(length, o.t.door.config.MaxPacketBytes)
		}
		if values[i], err = o.t.schema[w].Type.SQL(ctx, nil, row[w]); err != nil {
			return err
		}
		values[i] = plainFloat(values[i], notFixed)
		switch o.t.columns[w].Type {
		case message.TypeTime:
			values[i] = sqltypes.MakeTrusted(sqltypes.Time, fraction(values[i].ToBytes(), o.t.columns[w].Length))
		case message.TypeDate, message.TypeDateTime, message.TypeTimestamp:
			values[i] = plainYear(values[i])
		}
		o.bytes += values[i].Len()
	}
	if o.rows = append(o.rows, values); len(o.rows) < bundleRows && o.bytes < bundleBytes {
		return nil
	}
	return o.flush(false)
}

// flush sends the rows that are gathered; at the end also none, once.
func (o *spool) flush(end bool) error {
	if len(o.rows) == 0 && (o.sent || !end) {
		return nil
	}
	r := &sqltypes.Result{Fields: o.fields, Rows: o.rows, RowsAffected: uint64(len(o.rows))}
	o.rows, o.bytes, o.sent = nil, 0, true
	return o.answer(r, false)
}

// rows goes through what nobody owns, a page at a time.
type rows struct {
	t     *table
	page  []queue.Peeked
	size  int // of the next page
	after uint64
	ended bool
	hold  *door.Hold // of the page
}

// reading reads the rows of a table for a statement that is measured.
func (m *meter) reading(t *table) *rows {
	r := &rows{t: t, hold: &door.Hold{Of: t.door.budget, Traffic: t.door.traffic.of}}
	if m != nil {
		m.pages = append(m.pages, r.hold)
	}
	return r
}

// A page is of at most so many messages, and of about so many bytes: it grows as long as messages turn out to be small.
// It is counted until the next one is read: as it is, and as rows on their way to the client.
const (
	pageRows  = 500
	pageBytes = 512 << 10
	pageCost  = 8
)

func (r *rows) Next(ctx *gms.Context) (gms.Row, error) {
	for {
		for len(r.page) > 0 {
			p := &r.page[0]
			r.page = r.page[1:]
			if p.State == queue.Claimed {
				continue
			}
			return r.t.row(ctx, p)
		}
		if r.ended {
			return nil, io.EOF
		}
		if err := r.read(ctx); err != nil {
			return nil, fromStoreOf(err, r.t.name)
		}
	}
}

// read reads the next page.
func (r *rows) read(ctx context.Context) error {
	asked := max(r.size, 1)
	r.page = nil // it has no row left, and would keep the last ones in memory while this waits for room
	r.hold.End()
	page, err := r.t.door.store.Peek(ctx, r.t.name, queue.PeekRequest{After: r.after, Max: asked, Hold: r.room})
	if err != nil {
		return err
	}
	bytes := 1
	for i := range page {
		bytes += page[i].Message.Size()
	}
	r.size = min(pageRows, 4*asked, max(1, asked*pageBytes/bytes))
	if r.ended = len(page) < asked; len(page) > 0 {
		r.page, r.after = page, page[len(page)-1].Sequence
	}
	return nil
}

// room takes what a page takes. One that has more than there can be is read alone.
func (r *rows) room(ctx context.Context, sum, _ int64) error {
	return r.hold.Take(ctx, min(pageCost*sum, r.hold.Of.Limit()))
}

func (r *rows) Close(*gms.Context) error {
	r.hold.End()
	return nil
}
