package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hikyaku/hikyaku/internal/rows"
)

const (
	frameBytes = 256 << 10 // of rows, about, in one message to the server
	keptBytes  = 1 << 20   // of the memory of a block that the next may use
	wariness   = 32        // blocks that are inserted when one has met rows that are there already: more such may come
)

// Write writes a block in one transaction: by COPY, or by an INSERT where something is to be done about rows that are
// there already, or where the table takes no COPY. COPY is so much the faster that, where such rows are to be left
// alone, it is tried as long as none are met.
func (s *session) Write(ctx context.Context, b *rows.Block) error {
	if b.Rows() == 0 {
		return nil
	}
	p, err := s.plans.of(b)
	if err != nil {
		return s.failed(err)
	}
	if b.Mode.Finds() {
		return s.find(ctx, b, p)
	}
	if p.copy == "" || b.Mode == rows.Upsert {
		return s.insert(ctx, b, p, nobody)
	}
	if p.wary > 0 {
		p.wary--
		return s.insert(ctx, b, p, nobody)
	}
	err = s.copy(ctx, b, p)
	switch {
	case isState(err, "0A000"), isState(err, "42809"):
		p.copy = "" // it has policies for its rows, or is a view
	case b.Mode == rows.Once && isState(err, "23505"):
		p.wary = wariness
	default:
		return err
	}
	return s.insert(ctx, b, p, nobody)
}

// copied is how far a COPY has come.
type copied struct {
	xid     string // the transaction's; "": not known yet
	started bool   // the server takes rows
	sent    bool   // it has been told that these were all
	counted bool   // it has taken them
	done    bool   // it has committed
}

// copy writes a block by COPY. The server is told that the rows are complete only when we know which transaction it is:
// if the answer to the commit is lost, we can ask what became of it.
func (s *session) copy(ctx context.Context, b *rows.Block, p *plan) error {
	var at copied
	err := s.copyRows(ctx, b, p, &at)
	if !s.broken {
		var e *pgconn.PgError
		if at.counted && errors.As(err, &e) && e.Code == "22012" {
			return s.fail(rows.Fault{Class: rows.Drift, Row: -1}, errors.New("the columns are not what they were"))
		}
		return s.blamed(b, err)
	}
	var e *pgconn.PgError
	switch {
	case at.done:
		return nil // whatever became of the session then
	case !at.sent || errors.As(err, &e) && e.Where != "":
		return s.fail(rows.Fault{Class: rows.Away, Row: -1}, cause(ctx, err))
	}
	return s.settle(ctx, at.xid, cause(ctx, err))
}

func (s *session) copyRows(ctx context.Context, b *rows.Block, p *plan, at *copied) error {
	defer s.during(ctx)()
	wrong, err := s.sendRows(b, p)
	if err != nil {
		return err
	}
	for !at.started {
		m, err := s.receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			if at.xid == "" && len(m.Values) == 1 {
				at.xid = string(m.Values[0])
			}
		case *pgproto3.CopyInResponse:
			at.started = true
		case *pgproto3.ErrorResponse:
			refused := pgconn.ErrorResponseToPgError(m)
			return errors.Join(s.drain(func(pgproto3.BackendMessage) {}), refused)
		}
	}
	end := pgproto3.FrontendMessage(&pgproto3.CopyDone{})
	if wrong != nil {
		end = &pgproto3.CopyFail{Message: "a value cannot be written"}
	}
	out, err := end.Encode(nil)
	if err != nil {
		return err
	}
	at.sent = wrong == nil
	if err := s.write(out); err != nil {
		at.sent = false // it wants all of its five bytes
		return err
	}
	err = s.drain(func(m pgproto3.BackendMessage) {
		if _, ok := m.(*pgproto3.CommandComplete); ok {
			// that of COPY, and then that of the check, which is sent after the commit
			at.counted, at.done = true, at.counted
		}
	})
	if wrong != nil && !s.broken {
		return wrong
	}
	return err
}

// signature begins COPY's binary format: what it is, no flags, nothing more about it.
const signature = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// sendRows sends the statements and the rows. A value that cannot be written ends that, and is the first error.
func (s *session) sendRows(b *rows.Block, p *plan) (wrong, err error) {
	out := appendQuery(s.out[:0], p.copy)
	defer func() { s.keep(out) }()
	open := len(out)
	out = append(out, 'd', 0, 0, 0, 0)
	if p.binary {
		out = append(out, signature...)
	}
	for i := range b.Rows() {
		start := len(out)
		if out, wrong = p.appendRow(out, b, i); wrong != nil {
			out = out[:start]
			break
		}
		if len(out)-open < frameBytes {
			continue
		}
		binary.BigEndian.PutUint32(out[open+1:], uint32(len(out)-open-1))
		if err := s.write(out); err != nil {
			return nil, err
		}
		out, open = append(out[:0], 'd', 0, 0, 0, 0), 0
	}
	if p.binary {
		out = append(out, 0xff, 0xff)
	}
	binary.BigEndian.PutUint32(out[open+1:], uint32(len(out)-open-1))
	return wrong, s.write(out)
}

// keep keeps the memory of what was sent, unless it is unusually much.
func (s *session) keep(out []byte) {
	if s.out = out; cap(out) > keptBytes {
		s.out = nil
	}
}

// appendRow appends a row as COPY reads it.
func (p *plan) appendRow(dst []byte, b *rows.Block, i int) (_ []byte, err error) {
	row := b.Row(i)
	if !p.binary {
		for j, v := range row {
			if j > 0 {
				dst = append(dst, '\t')
			}
			dst = appendText(dst, p.codes[j].form, v)
		}
		return append(dst, '\n'), nil
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(row)))
	for j, v := range row {
		// the shortest way for what most tables of measured values have
		if p.codes[j].form == formFloat8 && v.Kind() == rows.Float {
			dst = binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 8), math.Float64bits(v.Float()))
			continue
		}
		if dst, err = appendValue(dst, p.codes[j].form, v); err != nil {
			return dst, &valueError{i, b.Columns[j].Name, err}
		}
	}
	return dst, nil
}

// nobody is shown an answer that has no rows.
func nobody(pgproto3.BackendMessage) {}

// insert writes a block by one INSERT, whose parameters are the columns: each an array of its values. The answer is
// shown to show.
func (s *session) insert(ctx context.Context, b *rows.Block, p *plan, show func(pgproto3.BackendMessage)) error {
	defer s.during(ctx)()
	out, err := p.appendInsert(s.out[:0], b)
	defer func() { s.keep(out) }()
	if err != nil {
		return s.blamed(b, err)
	}
	if err := s.write(out); err != nil {
		return s.fail(rows.Fault{Class: rows.Away, Row: -1}, cause(ctx, err)) // the last bytes are those that commit
	}
	err = s.drain(show)
	if s.broken && err != nil {
		return s.fail(rows.Fault{Class: rows.Unknown, Row: -1}, cause(ctx, err))
	}
	return s.blamed(b, err)
}

func (p *plan) appendInsert(dst []byte, b *rows.Block) (_ []byte, err error) {
	if p.first != "" {
		if dst, err = appendMessages(dst, &pgproto3.Parse{Query: p.first}, &pgproto3.Bind{},
			&pgproto3.Execute{}); err != nil {
			return dst, err
		}
	}
	if dst, err = appendMessages(dst, &pgproto3.Parse{Query: p.insert}); err != nil {
		return dst, err
	}
	old := p.older(b)
	bind := len(dst)
	dst = append(dst, 'B', 0, 0, 0, 0, 0, 0, 0, 1, 0, 1) // no names; all parameters are binary
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.codes)))
	for j, to := range p.codes {
		if dst, err = to.appendArray(dst, b, j, old); err != nil {
			return dst, err
		}
	}
	dst = append(dst, 0, 0) // results as texts
	if len(dst)-bind-1 > maxMessage {
		return dst, errors.New("the rows are too large together: PostgreSQL takes 1 GB at once")
	}
	binary.BigEndian.PutUint32(dst[bind+1:], uint32(len(dst)-bind-1))
	return appendMessages(dst, &pgproto3.Execute{}, &pgproto3.Sync{})
}

const (
	maxMessage = 1<<30 - 2
	oidText    = 25
)

// appendArray appends the values of the j-th column as an array, but for those of rows in old.
func (to *code) appendArray(dst []byte, b *rows.Block, j int, old map[int]bool) (_ []byte, err error) {
	start, element := len(dst), to.element
	if to.form == formText {
		element = oidText
	}
	put32 := binary.BigEndian.AppendUint32
	dst = put32(put32(put32(put32(dst, 0), 1), 1), element) // length, one dimension, with nulls
	dst = put32(put32(dst, uint32(b.Rows()-len(old))), 1)   // from 1
	for i := range b.Rows() {
		if old[i] {
			continue
		}
		if dst, err = appendValue(dst, to.form, b.Row(i)[j]); err != nil {
			return dst, &valueError{i, b.Columns[j].Name, err}
		}
	}
	if len(dst)-start-4 > maxMessage {
		return dst, errors.New("the rows are too large together: PostgreSQL takes 1 GB at once")
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}

// older are the rows whose key a later one has, too: one statement may change a row only once, and the last is to
// remain.
func (p *plan) older(b *rows.Block) map[int]bool {
	if len(p.keys) == 0 || b.Rows() < 2 {
		return nil
	}
	var old map[int]bool
	var key []byte
	last := make(map[string]int, b.Rows())
	for i := range b.Rows() {
		key = key[:0]
		whole := true
		for _, j := range p.keys {
			v := b.Row(i)[j]
			whole = whole && !v.IsNull()
			key, _ = appendValue(key, p.codes[j].form, v) // what cannot be written is found later
		}
		if !whole {
			continue
		}
		if before, ok := last[string(key)]; ok {
			if old == nil {
				old = map[int]bool{}
			}
			old[before] = true
		}
		last[string(key)] = i
	}
	return old
}
