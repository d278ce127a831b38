package mysql

import (
	"database/sql/driver"
	"fmt"
	"math/bits"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// plan is how blocks of the same columns, table and mode are written.
type plan struct {
	into  string // "INSERT INTO t (a, b) VALUES "
	meet  string // " ON DUPLICATE KEY UPDATE …"
	row   string // "(?,?)"
	most  int    // rows in one statement
	load  string // LOAD DATA, but for the name of its reader; "": not for these blocks
	hexed []bool // columns that LOAD DATA is given in hexadecimal
	stmts map[int]driver.Stmt
	// guarded: a row that is found by another unique key than the one to go by makes an error (planMeet).
	guarded bool

	// Of Update and Delete: the places of the key's columns and of the others, their names, and what finds a row
	// (planFind).
	key, others []int
	names       []string
	same        string
	repeats     int // the most that a value stands in a statement
}

// planKey is what a plan is made for. The same columns come as the same slice.
type planKey struct {
	table   *rows.Table
	columns *rows.Column
	count   int
	mode    rows.Mode
}

// plans are those that a session has used.
type plans map[planKey]*plan

const (
	// of a session: a table is described anew now and then, and what was planned before is of no use then
	maxPlans     = 8
	placeholders = 65535 // in one statement
	mostRows     = 256   // in one statement: more are not written faster, and the server keeps a place for each value
)

func (ps plans) of(b *rows.Block) (*plan, error) {
	if len(b.Columns) == 0 {
		return nil, fmt.Errorf("no column of %s is to be written", b.Table.Name)
	}
	key := planKey{b.Table, &b.Columns[0], len(b.Columns), b.Mode}
	if p, ok := ps[key]; ok {
		return p, nil
	}
	p, err := newPlan(b)
	if err != nil {
		return nil, err
	}
	if len(ps) >= maxPlans {
		ps.close()
	}
	ps[key] = p
	return p, nil
}

// close lets go of the statements of all plans, and forgets them.
func (ps plans) close() {
	for _, p := range ps {
		for _, stmt := range p.stmts {
			_ = stmt.Close() // of a session that is broken, they are gone already
		}
	}
	clear(ps)
}

func newPlan(b *rows.Block) (*plan, error) {
	p := &plan{stmts: map[int]driver.Stmt{}}
	if len(b.Columns) > placeholders {
		return nil, fmt.Errorf("%s has too many columns", b.Table.Name)
	}
	p.most = powerOfTwo(min(placeholders/len(b.Columns), mostRows))
	names := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		names[i] = rows.QuoteName(c.Name, quote)
	}
	if p.names = names; b.Mode.Finds() {
		p.planFind(b)
		return p, nil
	}
	p.into = "INSERT INTO " + b.Table.Name.Quoted(quote) + " (" + strings.Join(names, ",") + ") VALUES "
	p.row = "(" + strings.Repeat("?,", len(names)-1) + "?)"
	if b.Mode == rows.Insert {
		p.planLoad(b, names)
		return p, nil
	}
	return p, p.planMeet(b)
}

// planMeet is what is done about rows whose key is there already. IGNORE would also hide values that do not fit.
//
// The server goes by whatever unique key it finds the row by. Where there is another one than that of our rows, a row
// that is found by it is none of ours: setting a column of the key, which takes no null, to null makes an error of
// that.
func (p *plan) planMeet(b *rows.Block) error {
	var same, keys, sets []string
	others := false
	for _, c := range b.Table.Columns {
		if own, ok := c.Code.(*code); ok {
			others = others || own.others
		}
		if c.Key {
			name := rows.QuoteName(c.Name, quote)
			keys = append(keys, name)
			same = append(same, name+"<=>VALUES("+name+")")
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s has no key that %s could go by", b.Table.Name, b.Mode)
	}
	first := keys[0] + "=" + keys[0]
	if p.guarded = others; others {
		first = keys[0] + "=IF(" + strings.Join(same, " AND ") + "," + keys[0] + ",NULL)"
	}
	sets = append(sets, first)
	for _, c := range b.Columns {
		if !c.Key && b.Mode == rows.Upsert {
			name := rows.QuoteName(c.Name, quote)
			sets = append(sets, name+"=VALUES("+name+")")
		}
	}
	p.meet = " ON DUPLICATE KEY UPDATE " + strings.Join(sets, ",")
	return nil
}

// planLoad is LOAD DATA for the block. Bytes are no text of the file's character set, and a BIT would be taken for its
// digits' text.
func (p *plan) planLoad(b *rows.Block, names []string) {
	targets := make([]string, len(names))
	p.hexed = make([]bool, len(names))
	var sets []string
	for i, c := range b.Columns {
		targets[i] = names[i]
		own, ok := c.Code.(*code)
		variable := fmt.Sprintf("@v%d", i)
		switch {
		case c.Kind == rows.Bytes:
			p.hexed[i] = true
			targets[i] = variable
			sets = append(sets, names[i]+"=UNHEX("+variable+")")
		case ok && own.bits:
			targets[i] = variable
			sets = append(sets, names[i]+"=CAST("+variable+" AS UNSIGNED)")
		}
	}
	p.load = "INTO TABLE " + b.Table.Name.Quoted(quote) +
		` CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\t' ENCLOSED BY '' ESCAPED BY '\\' LINES TERMINATED BY '\n' STARTING BY '' (` +
		strings.Join(targets, ",") + ")"
	if len(sets) > 0 {
		p.load += " SET " + strings.Join(sets, ",")
	}
}

// powerOfTwo is the greatest that is not above n, which is at least 1.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// statement is the text of a statement for n rows.
func (p *plan) statement(n int) string {
	if p.same != "" {
		return p.finding(n)
	}
	return p.into + strings.Repeat(p.row+",", n-1) + p.row + p.meet
}
