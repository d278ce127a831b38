package sink

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sinkColumn is a column of the tables of the sink bench.
type sinkColumn struct {
	name string
	kind columnKind
}

// columnKind is what a column holds.
type columnKind uint8

const (
	doubles columnKind = iota
	bigints
	integers
	decimals
	texts
	dates
	times
)

// columnTypes says what each database calls them.
var columnTypes = map[string][7]string{
	toTsurugi:  {"DOUBLE", "BIGINT", "INT", "DECIMAL(12, 2)", "VARCHAR(100)", "DATE", "TIMESTAMP"},
	toPostgres: {"double precision", "bigint", "integer", "numeric(12, 2)", "varchar(100)", "date", "timestamp"},
	// A row of a thousand doubles has no room for the bits of NULL.
	toMySQL: {"DOUBLE NOT NULL", "BIGINT NOT NULL", "INT NOT NULL", "DECIMAL(12, 2) NOT NULL", "VARCHAR(100) NOT NULL",
		"DATE NOT NULL", "DATETIME(6) NOT NULL"},
	toSQLite: {"REAL", "INTEGER", "INTEGER", "NUMERIC", "TEXT", "TEXT", "TEXT"},
}

// sinkSchema is a table, and the lines that fill it. The first column tells rows apart: it counts from 0.
type sinkSchema struct {
	table   string
	columns []sinkColumn
	id      bool     // there is a column besides, id, the key, which takes the message's id
	tails   []string // what stands in a line behind its first field; lines take turns
}

// tailCount is how many different tails there are.
const tailCount = 1 << 10

// doubleSchema is the field report's table of n columns of DOUBLE.
func doubleSchema(n int) *sinkSchema {
	s := &sinkSchema{table: "hikyaku_bench_" + strconv.Itoa(n)}
	for i := range n {
		s.columns = append(s.columns, sinkColumn{"value" + strconv.Itoa(i+1), doubles})
	}
	s.fill()
	return s
}

// mixedSchema has n columns of all kinds.
func mixedSchema(n int) *sinkSchema {
	s := &sinkSchema{table: "hikyaku_bench_mixed", columns: []sinkColumn{{"value1", bigints}}}
	for i := 1; i < n; i++ {
		s.columns = append(s.columns, sinkColumn{"value" + strconv.Itoa(i+1), columnKind(i % 7)})
	}
	s.fill()
	return s
}

// withID adds a key that takes the message's id.
func (s *sinkSchema) withID() *sinkSchema {
	s.id, s.table = true, s.table+"_id"
	return s
}

// fill makes the tails. They are the same in every run.
func (s *sinkSchema) fill() {
	state := uint64(2026)
	next := func(below uint64) uint64 { // a linear congruence: nothing depends on how random it is
		state = state*6364136223846793005 + 1442695040888963407
		return (state >> 33) % below
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var b []byte
	for range tailCount {
		b = b[:0]
		for _, c := range s.columns[1:] {
			b = append(b, ',')
			n := next(1_000_000)
			switch c.kind {
			case doubles:
				b = fmt.Appendf(b, "%d.%03d", n/1000, n%1000)
			case decimals:
				b = fmt.Appendf(b, "%d.%02d", n/100, n%100)
			case texts:
				b = fmt.Appendf(b, "reading %d of a sensor", n)
			case dates:
				b = began.AddDate(0, 0, int(n%1000)).AppendFormat(b, time.DateOnly)
			case times:
				b = began.Add(time.Duration(n)*time.Second).AppendFormat(b, "2006-01-02 15:04:05.000000")
			default:
				b = strconv.AppendUint(b, n, 10)
			}
		}
		s.tails = append(s.tails, string(b))
	}
}

// appendLine appends the line of the i-th row, without its end.
func (s *sinkSchema) appendLine(b []byte, i int) []byte {
	return append(strconv.AppendInt(b, int64(i), 10), s.tails[i%tailCount]...)
}

// names are those of the columns, with commas.
func (s *sinkSchema) names() string {
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// create is the statement that makes the table.
func (s *sinkSchema) create(to string) string {
	definitions := make([]string, len(s.columns))
	for i, c := range s.columns {
		definitions[i] = c.name + " " + columnTypes[to][c.kind]
	}
	if s.id {
		definitions = append(definitions, "id VARCHAR(36) NOT NULL PRIMARY KEY")
	}
	return "CREATE TABLE " + s.table + " (" + strings.Join(definitions, ", ") + ")"
}
