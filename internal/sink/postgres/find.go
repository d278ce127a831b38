package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// planFind is one statement that updates or deletes the rows that are found by the block's keys, which come as an
// array of each column, and answers with the places of those that the table does not have.
//
// Rows of one block differ in their keys' bytes. Where different bytes may be the same to the server (1.0 and 1, 'a'
// and 'a ' of a char(2)), an update is told which of them is the last, since a statement changes a row only once and
// does not say by which of several; and what is missing is told by the keys, not by the rows that were used.
func (p *plan) planFind(b *rows.Block, names, picked, parameters []string) {
	key, others := b.Parts()
	var numbers, same, keys, sets []string
	exact := true
	for i := range b.Columns {
		numbers = append(numbers, "c"+strconv.Itoa(i+1))
	}
	for _, i := range key {
		keys = append(keys, numbers[i])
		same = append(same, "t."+names[i]+" = u."+numbers[i])
		exact = exact && isExact(&b.Columns[i])
	}
	for _, i := range others {
		sets = append(sets, names[i]+" = u."+numbers[i])
	}
	given := "(SELECT " + as(picked, numbers) + ", n FROM unnest(" + strings.Join(parameters,
		", ") + ") WITH ORDINALITY AS g(" +
		strings.Join(numbers, ", ") + ", n))"
	from := given
	if !exact {
		from = "(SELECT DISTINCT ON (" + strings.Join(keys, ", ") + ") * FROM given ORDER BY " + strings.Join(keys,
			", ") + ", n DESC)"
	}
	change := "UPDATE " + tableName(b.Table.Name) + " AS t SET " + strings.Join(sets, ", ") + " FROM " + from + " AS u"
	if b.Mode == rows.Delete {
		change = "DELETE FROM " + tableName(b.Table.Name) + " AS t USING " + from + " AS u"
	}
	change += " WHERE " + strings.Join(same, " AND ")
	if b.Sole {
		p.first = byIndex
	}
	if exact {
		p.insert = "WITH done AS (" + change + " RETURNING u.n) SELECT n - 1 FROM generate_series(1, " +
			"pg_catalog.cardinality($1)) AS n " +
			"WHERE n NOT IN (SELECT n FROM done)"
		return
	}
	p.insert = "WITH given AS MATERIALIZED " + given + ", done AS (" + change + " RETURNING u." + strings.Join(keys,
		", u.") + ") " +
		"SELECT n - 1 FROM given WHERE (" + strings.Join(keys, ", ") + ") NOT IN (SELECT " + strings.Join(keys,
		", ") + " FROM done)"
}

// byIndex has the rows of a key that is unique looked up in its index, for this transaction. Of a table that is not
// large against the block, or of whose size the server knows nothing yet, it would read everything.
const byIndex = "SELECT pg_catalog.set_config('enable_seqscan', 'off', true), " +
	"pg_catalog.set_config('enable_hashjoin', 'off', true), " +
	"pg_catalog.set_config('enable_mergejoin', 'off', true)"

// as names what is picked.
func as(picked, names []string) string {
	var parts []string
	for i := range picked {
		parts = append(parts, picked[i]+" AS "+names[i])
	}
	return strings.Join(parts, ", ")
}

// isExact tells whether values of a column that are equal to the server have the same bytes, but for columns whose
// collation says otherwise.
func isExact(c *rows.Column) bool {
	if to, ok := c.Code.(*code); ok && to.form == formText {
		return false
	}
	switch c.Kind {
	case rows.Float, rows.Decimal, rows.JSON:
		return false
	case rows.Text:
		return c.Native == "text" || strings.HasPrefix(c.Native, "character varying")
	}
	return true
}

// find writes a block of Update or Delete by one statement.
func (s *session) find(ctx context.Context, b *rows.Block, p *plan) error {
	return s.insert(ctx, b, p, func(m pgproto3.BackendMessage) {
		row, ok := m.(*pgproto3.DataRow)
		if !ok || len(row.Values) != 1 {
			return
		}
		if n, err := strconv.Atoi(string(row.Values[0])); err == nil && n >= 0 && n < b.Rows() {
			b.Miss(n)
		}
	})
}
