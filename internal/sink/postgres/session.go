package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// session is a connection and what it keeps from one block to the next.
type session struct {
	*wire
	driver *driver
	out    []byte // of the block before, to be used again
	plans  plans
	life   string // of the server
}

const quote = '"'

// tableName is a name as SQL has it.
func tableName(n rows.Name) string { return n.Quoted(quote) }

// literal is a text as SQL has it; the session reads backslashes as what they are.
func literal(s string) string { return rows.QuoteName(s, '\'') }

// What a table has, one row a column. A domain is followed down to the type that it stands on; its bounds are those of
// the domains on the way.
const describeQuery = `
WITH RECURSIVE c AS (
	SELECT attnum, attname, attnotnull, atthasdef, attidentity, attgenerated, atttypid, atttypmod, attrelid
	FROM pg_catalog.pg_attribute WHERE attrelid = pg_catalog.to_regclass($1) AND attnum > 0 AND NOT attisdropped
), t AS (
	SELECT c.attnum, c.atttypid AS oid, c.atttypmod AS typmod, false AS notnull, false AS hasdef FROM c
	UNION ALL
	SELECT t.attnum, d.typbasetype, d.typtypmod, t.notnull OR d.typnotnull, t.hasdef OR d.typdefault IS NOT NULL
	FROM t JOIN pg_catalog.pg_type d ON d.oid = t.oid WHERE d.typtype = 'd'
), k AS (
	SELECT i.indkey::int2[] AS columns, i.indnkeyatts, i.indisprimary, pg_catalog.count(*) OVER () AS n, pg_catalog.bool_or(i.indisprimary) OVER () AS p
	FROM pg_catalog.pg_index i
	WHERE i.indrelid = pg_catalog.to_regclass($1) AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
)
SELECT c.attname,
	CASE WHEN c.attnotnull OR t.notnull THEN 'n' ELSE '' END,
	CASE WHEN c.attgenerated <> '' OR c.attidentity = 'a' THEN 'g' WHEN c.atthasdef OR c.attidentity <> '' OR t.hasdef THEN 'd' ELSE '' END,
	CASE WHEN EXISTS (SELECT FROM k WHERE (k.indisprimary OR NOT k.p AND k.n = 1) AND c.attnum = ANY (k.columns[0:k.indnkeyatts - 1])) THEN 'k' ELSE '' END,
	CASE WHEN EXISTS (SELECT FROM k WHERE k.indnkeyatts = 1 AND c.attnum = k.columns[0]) THEN 'u' ELSE '' END,
	pg_catalog.format_type(c.atttypid, c.atttypmod), c.atttypid, b.oid, pg_catalog.format_type(b.oid, -1), b.typreceive, t.typmod
FROM c JOIN t ON t.attnum = c.attnum JOIN pg_catalog.pg_type b ON b.oid = t.oid AND b.typtype <> 'd'
ORDER BY c.attnum`

// noTableError says that there is no table of that name.
type noTableError struct{ name rows.Name }

func (e *noTableError) Error() string { return fmt.Sprintf("there is no table %s", e.name) }

// Describe reads the table's columns.
func (s *session) Describe(ctx context.Context, name rows.Name) (*rows.Table, error) {
	found, err := s.ask(ctx, describeQuery, tableName(name))
	if err != nil {
		return nil, s.failed(err)
	}
	if len(found) == 0 {
		if there, err := s.ask(ctx, "SELECT pg_catalog.to_regclass($1) IS NOT NULL", tableName(name)); err != nil {
			return nil, s.failed(err)
		} else if len(there) == 0 || there[0][0] != "t" {
			return nil, s.failed(&noTableError{name})
		}
	}
	t := &rows.Table{Name: name}
	for _, f := range found {
		c, err := column(f)
		if err != nil {
			return nil, s.failed(err)
		}
		t.Columns = append(t.Columns, c)
	}
	return t, nil
}

// column reads a row of the answer.
func column(f []string) (c rows.Column, err error) {
	to := &code{array: f[8]}
	c = rows.Column{Name: f[0], Nullable: f[1] == "", Default: f[2] == "d", Generated: f[2] == "g", Key: f[3] != "",
		Unique: f[4] != "", Native: f[5], Code: to}
	for i, into := range []*uint32{&to.typ, &to.element} {
		n, err := strconv.ParseUint(f[6+i], 10, 32)
		if err != nil {
			return c, fmt.Errorf("column %s has no type: %w", c.Name, err)
		}
		*into = uint32(n)
	}
	typmod, err := strconv.Atoi(f[10])
	if err != nil {
		return c, fmt.Errorf("column %s has no type modifier: %w", c.Name, err)
	}
	receive := f[9]
	if dot := strings.LastIndexByte(receive, '.'); dot >= 0 {
		receive = receive[dot+1:] // of a schema that is not on the search path
	}
	describe(&c, to, receive, typmod)
	return c, nil
}

// Create makes the table.
func (s *session) Create(ctx context.Context, t *rows.Table) error {
	_, err := s.ask(ctx, "CREATE TABLE IF NOT EXISTS "+tableName(t.Name)+" "+t.Definition(quote, native))
	if isState(err, "42P07") || isState(err, "23505") {
		return nil // somebody else makes it at this moment
	}
	return s.failed(err)
}

// native is the type for a column that is to be made.
func native(c rows.Column) string {
	if c.Native != "" {
		return c.Native
	}
	switch c.Kind {
	case rows.Bool:
		return "boolean"
	case rows.Int:
		switch {
		case c.Bits > 0 && c.Bits <= 16:
			return "smallint"
		case c.Bits > 0 && c.Bits <= 32:
			return "integer"
		}
		return "bigint"
	case rows.Uint:
		return "numeric(20)" // there are no unsigned integers
	case rows.Float:
		if c.Bits == 32 {
			return "real"
		}
		return "double precision"
	case rows.Decimal:
		if c.Precision > 0 {
			return fmt.Sprintf("numeric(%d, %d)", c.Precision, c.Scale)
		}
		return "numeric"
	case rows.Bytes:
		return "bytea"
	case rows.Date:
		return "date"
	case rows.TimeOfDay:
		return "time"
	case rows.Timestamp:
		return "timestamp"
	case rows.TimestampTZ:
		return "timestamp with time zone"
	case rows.UUID:
		return "uuid"
	case rows.JSON:
		return "jsonb"
	}
	if c.Length > 0 {
		return "varchar(" + strconv.Itoa(c.Length) + ")"
	}
	return "text"
}

// Close ends the session.
func (s *session) Close() error { return s.close() }
