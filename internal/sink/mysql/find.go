package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// mostUpdates is how many rows one update changes: the server compares each row that it finds with every key of the
// statement, once a column.
const mostUpdates = 32

// planFind is what updates or deletes rows that are found by their keys: several by one statement, whose count tells
// whether there was a row for each. Where it does not tell which (findPart), and where a key may have several rows,
// a statement changes what one key finds.
func (p *plan) planFind(b *rows.Block) {
	p.key, p.others = b.Parts()
	p.repeats = 1
	if b.Mode == rows.Update {
		p.repeats += len(p.others)
		p.most = min(p.most, mostUpdates)
	}
	each := len(p.key)
	if b.Mode == rows.Update {
		each += len(p.others) * (len(p.key) + 1)
	}
	p.most = min(p.most, powerOfTwo(max(placeholders/each, 1)))
	if !b.Sole {
		p.most = 1
	}
	var same []string
	for _, i := range p.key {
		same = append(same, p.names[i]+"="+keyPlace(&b.Columns[i]))
	}
	p.same = strings.Join(same, " AND ")
	p.into = "DELETE FROM " + b.Table.Name.Quoted(quote)
	if b.Mode == rows.Update {
		p.into = "UPDATE " + b.Table.Name.Quoted(quote) + " SET "
	}
}

// keyPlace is the parameter for a column of the key. A decimal is made one: MySQL compares it with a text as a float.
func keyPlace(c *rows.Column) string {
	if c.Kind == rows.Decimal && c.Precision > 0 {
		return fmt.Sprintf("CAST(? AS DECIMAL(%d,%d))", c.Precision, c.Scale)
	}
	return "?"
}

// finding is the text of the statement for n keys. Keys that are one to the server count as one row, so that they
// are then done one by one.
func (p *plan) finding(n int) string {
	var t strings.Builder
	t.WriteString(p.into)
	for k, i := range p.others {
		if k > 0 {
			t.WriteString(",")
		}
		t.WriteString(p.names[i] + "=")
		if n == 1 {
			t.WriteString("?")
			continue
		}
		t.WriteString("CASE" + strings.Repeat(" WHEN "+p.same+" THEN ?", n) + " END")
	}
	t.WriteString(" WHERE (" + p.same + ")" + strings.Repeat(" OR ("+p.same+")", n-1))
	return t.String()
}

// order calls add with the row and column of each parameter of finding.
func (p *plan) order(at, n int, add func(row, column int) error) error {
	for _, i := range p.others {
		for r := at; r < at+n; r++ {
			if n > 1 {
				if err := addAll(r, p.key, add); err != nil {
					return err
				}
			}
			if err := add(r, i); err != nil {
				return err
			}
		}
	}
	for r := at; r < at+n; r++ {
		if err := addAll(r, p.key, add); err != nil {
			return err
		}
	}
	return nil
}

func addAll(row int, columns []int, add func(row, column int) error) error {
	for _, i := range columns {
		if err := add(row, i); err != nil {
			return err
		}
	}
	return nil
}

// findBlock writes a block of Update or Delete.
func (s *session) findBlock(ctx context.Context, b *rows.Block, p *plan) error {
	if b.Rows() == 1 {
		changed, err := s.run(ctx, b, p, 0, 1)
		switch {
		case err != nil && undecided(err) && s.broken:
			return s.fail(rows.Fault{Class: rows.Unknown, Row: -1}, cause(ctx, err))
		case err == nil && changed == 0:
			b.Miss(0)
		}
		return s.blamed(b, 0, 1, s.ended(ctx, err))
	}
	if _, err := s.tell(ctx, "START TRANSACTION"); err != nil {
		return s.failed(s.ended(ctx, err))
	}
	for at, n := 0, 0; at < b.Rows(); at += n {
		n = s.part(b, p, at)
		if err := s.findPart(ctx, b, p, at, n); err != nil {
			return s.undo(ctx, err)
		}
	}
	return s.commit(ctx)
}

const savepoint = "hikyaku"

// findPart changes what n keys find. If that is not a row for each, it is undone and done key by key, which shows
// whose row is not there.
func (s *session) findPart(ctx context.Context, b *rows.Block, p *plan, at, n int) error {
	if n > 1 {
		if _, err := s.tell(ctx, "SAVEPOINT "+savepoint); err != nil {
			return s.failed(s.ended(ctx, err))
		}
		changed, err := s.run(ctx, b, p, at, n)
		if err == nil && changed == int64(n) {
			return nil
		}
		if err != nil {
			return s.blamedNobody(b, at, s.ended(ctx, err))
		}
		if _, err := s.tell(ctx, "ROLLBACK TO SAVEPOINT "+savepoint); err != nil {
			return s.failed(s.ended(ctx, err))
		}
	}
	for r := at; r < at+n; r++ {
		changed, err := s.run(ctx, b, p, r, 1)
		if err != nil {
			return s.blamed(b, r, 1, s.ended(ctx, err))
		}
		if changed == 0 {
			b.Miss(r)
		}
	}
	return nil
}

// blamedNobody judges an error of a statement for several keys. The rows that it counts are those of the table. It
// keeps nil.
func (s *session) blamedNobody(b *rows.Block, at int, err error) error {
	f := classify(err)
	if f.Class == rows.BadRow && f.Row < 0 {
		return s.fail(f, err)
	}
	return s.blamed(b, at, 1, err)
}

// run runs the plan's statement for n rows from the given one on, and tells how many rows of the table it changed
// or, with Update, found.
func (s *session) run(ctx context.Context, b *rows.Block, p *plan, at, n int) (int64, error) {
	done, err := s.statement(ctx, b, p, at, n)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}
