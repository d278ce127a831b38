package postgres

import (
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// plan is how blocks of the same columns, table and mode are written.
type plan struct {
	codes  []*code
	keys   []int  // of Upsert: the places of the key's columns among those that are written
	binary bool   // COPY's format
	copy   string // "": the table takes none
	wary   int    // blocks that are to be inserted before COPY is tried again
	first  string // what is run before, in the same transaction; "": nothing
	insert string // with an array of each column's values; or what finds and changes rows
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

// maxPlans bounds them: a table is described anew now and then, and what was planned before is of no use then.
const maxPlans = 32

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
		clear(ps)
	}
	ps[key] = p
	return p, nil
}

func newPlan(b *rows.Block) (*plan, error) {
	p := &plan{binary: true}
	var names, numbers, parameters, picked, types []string
	for i, c := range b.Columns {
		to, ok := c.Code.(*code)
		if !ok {
			return nil, fmt.Errorf("column %s was not described by PostgreSQL", c.Name)
		}
		p.codes = append(p.codes, to)
		name, number := rows.QuoteName(c.Name, quote), fmt.Sprintf("c%d", i+1)
		names, numbers = append(names, name), append(numbers, number)
		types = append(types, fmt.Sprintf("(%s,%d)", literal(c.Name), to.typ))
		if to.form == formText {
			p.binary = false
			parameters = append(parameters, fmt.Sprintf("$%d::text[]", i+1))
			picked = append(picked, number+"::"+to.array)
		} else {
			parameters = append(parameters, fmt.Sprintf("$%d::%s[]", i+1, to.array))
			picked = append(picked, number)
		}
	}
	into, format := tableName(b.Table.Name)+" ("+strings.Join(names, ", ")+")", "text"
	if p.binary {
		format = "binary"
	}
	if b.Mode.Finds() {
		p.planFind(b, names, picked, parameters)
		return p, nil
	}
	// The binary format is not checked against the columns' types: eight bytes of an integer are as good a float to the
	// server. So the types are, in the same transaction; COPY holds the table as it is until that has ended.
	p.copy = fmt.Sprintf("SELECT pg_catalog.txid_current(); COPY %s FROM STDIN (FORMAT %s); "+
		"SELECT 1/(pg_catalog.count(*)=%d)::int FROM pg_catalog.pg_attribute WHERE "+
		"attrelid=pg_catalog.to_regclass(%s) AND NOT attisdropped AND (attname,atttypid) IN (%s)",
		into, format, len(b.Columns), literal(tableName(b.Table.Name)), strings.Join(types, ","))
	p.insert = fmt.Sprintf("INSERT INTO %s SELECT %s FROM unnest(%s) AS u(%s)", into, strings.Join(picked, ", "),
		strings.Join(parameters, ", "), strings.Join(numbers, ", "))
	return p, p.meet(b)
}

// meet adds what is to be done about rows whose key is there already.
func (p *plan) meet(b *rows.Block) error {
	if b.Mode == rows.Insert {
		return nil
	}
	var keys, sets []string
	for _, c := range b.Table.Columns {
		if c.Key {
			keys = append(keys, rows.QuoteName(c.Name, quote))
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s has no key that %s could go by", b.Table.Name, b.Mode)
	}
	for i, c := range b.Columns {
		if name := rows.QuoteName(c.Name, quote); !c.Key {
			sets = append(sets, name+" = EXCLUDED."+name)
		} else if b.Mode == rows.Upsert {
			p.keys = append(p.keys, i)
		}
	}
	p.insert += " ON CONFLICT (" + strings.Join(keys, ", ") + ") DO "
	if b.Mode == rows.Once || len(sets) == 0 {
		p.insert += "NOTHING"
		p.keys = nil
		return nil
	}
	if len(p.keys) < len(keys) {
		p.keys = nil // no two rows can be known to be of one key
	}
	p.insert += "UPDATE SET " + strings.Join(sets, ", ")
	return nil
}
