package bounds

import (
	"strconv"
	"strings"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Limits are what a statement may have.
type Limits struct {
	Depth   int // operators and keywords within each other
	Tokens  int
	Tables  int // in what could become one join
	Selects int // SELECTs
	Columns int // of one SELECT
	Cast    int // bytes of all CAST(… AS BINARY(n)), which fill up with zeros
}

// Default are the limits of those who may do something. Tables and Columns are MySQL's own.
//
// Measured on two cores of 2.5 GHz: 2,000 operators take the planner a quarter of a second, 100 SELECTs in a UNION an
// eighth, 61 tables in a join as much; 100,000 tokens of a list half a second and 28 MB.
var Default = Limits{Depth: 2000, Tokens: 500_000, Tables: 61, Selects: 100, Columns: 4096, Cast: 1 << 20}

// Least are the limits of those who may do nothing yet: what clients ask on connecting fits.
var Least = Limits{Depth: 200, Tokens: 4000, Tables: 8, Selects: 16, Columns: 256, Cast: 64 << 10}

// Check tells what the first statement in query has too much of. The error is a *mysql.SQLError. What cannot be read as
// tokens is left to the parser, which reads no further either.
func Check(query string, l Limits) error {
	err := check(sqlparser.NewStringTokenizer(query), l)
	// In the mode ANSI_QUOTES a backslash ends nothing between double quotes.
	if err == nil && strings.Contains(query, `"`) && strings.Contains(query, `\`) {
		err = check(sqlparser.NewStringTokenizerForAnsiQuotes(query), l)
	}
	return err
}

func check(t *sqlparser.Tokenizer, l Limits) error {
	s := scan{limits: l, levels: append(make([]level, 0, 16), level{columns: -1})}
	for {
		token, text := t.Scan()
		switch token {
		case 0, eof, ';', sqlparser.LEX_ERROR:
			return nil
		}
		if err := s.take(token); err != nil {
			return err
		}
		if err := s.cast(token, text); err != nil {
			return err
		}
		if err := s.doublings.take(token, text); err != nil {
			return err
		}
	}
}

// eof is the tokenizer's, besides 0.
const eof = 0x100

// level is a pair of parentheses, or what stands outside of all.
type level struct {
	depth   int  // of the item of a list that is read
	columns int  // commas since the SELECT; -1: there was none
	from    bool // tables are read
	outside int  // tables before it
}

type scan struct {
	limits  Limits
	levels  []level
	depth   int // of all levels
	tokens  int
	tables  int
	selects int

	before [2]int // the tokens before this one
	bytes  int    // of casts

	doublings doublings
}

// cast counts the n of BINARY(n).
func (s *scan) cast(token int, text []byte) error {
	if token == sqlparser.INTEGRAL && s.before == [2]int{sqlparser.BINARY, '('} {
		n, err := strconv.Atoi(string(text))
		if err != nil || n > s.limits.Cast {
			n = s.limits.Cast + 1
		}
		if s.bytes += n; s.bytes > s.limits.Cast {
			return vmysql.NewSQLError(erCapacity, "HY000", "The statement makes values of more than %d bytes with "+
				"CAST(… AS BINARY(…))", s.limits.Cast)
		}
	}
	s.before = [2]int{s.before[1], token}
	return nil
}

// take counts a token.
func (s *scan) take(token int) error {
	top := &s.levels[len(s.levels)-1]
	if s.tokens++; s.tokens > s.limits.Tokens {
		return vmysql.NewSQLError(erCapacity, "HY000", "The statement has more than %d words and signs: send its "+
			"rows or values in several statements", s.limits.Tokens)
	}
	switch token {
	case '(':
		if len(s.levels) > s.limits.Depth {
			return tooDeep(s.limits.Depth)
		}
		s.levels = append(s.levels, level{columns: -1, outside: s.tables})
		return s.add(1)
	case ')':
		if len(s.levels) > 1 {
			s.depth -= top.depth
			s.levels = s.levels[:len(s.levels)-1]
		}
		return nil
	case ',':
		s.flat(top)
		return s.comma(top)
	case sqlparser.SELECT:
		s.flat(top)
		top.columns, top.from = 0, false
		if s.selects++; s.selects > s.limits.Selects {
			return vmysql.NewSQLError(erNestedSelects, "HY000", "Too many SELECTs in one statement: more than %d are "+
				"put together (UNION) or nested", s.limits.Selects)
		}
	case sqlparser.UNION, sqlparser.INTERSECT, sqlparser.EXCEPT:
		s.flat(top)
		s.tables, top.from, top.columns = top.outside, false, -1
	case sqlparser.FROM:
		if len(s.levels) == 1 || top.columns >= 0 { // else it is part of a function, as in trim(both from x)
			top.from = true
			return s.table()
		}
	case sqlparser.JOIN, sqlparser.STRAIGHT_JOIN:
		s.flat(top)
		return s.table()
	case sqlparser.WHERE, sqlparser.GROUP, sqlparser.HAVING:
		s.flat(top)
		top.from = false
	case sqlparser.ORDER, sqlparser.LIMIT, sqlparser.INTO:
		top.from = false
	case '.', sqlparser.ID, sqlparser.STRING, sqlparser.INTEGRAL, sqlparser.FLOAT, sqlparser.HEX, sqlparser.HEXNUM,
		sqlparser.BIT_LITERAL,
		sqlparser.VALUE_ARG, sqlparser.LIST_ARG, sqlparser.COMMENT:
		return nil
	}
	return s.add(1)
}

// comma separates tables, columns, or other items.
func (s *scan) comma(top *level) error {
	switch {
	case top.from:
		return s.table()
	case top.columns >= 0:
		if top.columns++; top.columns >= s.limits.Columns {
			return vmysql.NewSQLError(erTooManyFields, "HY000", "Too many columns: a SELECT selects at most %d",
				s.limits.Columns)
		}
	}
	return nil
}

// flat begins another item of a list, or another clause: what follows is beside what was before, not in it.
func (s *scan) flat(top *level) {
	s.depth -= top.depth
	top.depth = 0
}

func (s *scan) table() error {
	if s.tables++; s.tables > s.limits.Tables {
		return vmysql.NewSQLError(erTooManyTables, "HY000", "Too many tables; MySQL can only use %d tables in a join",
			s.limits.Tables)
	}
	return nil
}

func (s *scan) add(n int) error {
	s.levels[len(s.levels)-1].depth += n
	if s.depth += n; s.depth > s.limits.Depth {
		return tooDeep(s.limits.Depth)
	}
	return nil
}

func tooDeep(limit int) error {
	return vmysql.NewSQLError(erStackOverrun, "HY000", "Thread stack overrun: more than %d operators within each "+
		"other (a chain such as a OR b OR c is as deep as it is long: use IN, or several statements)", limit)
}

// MySQL's numbers of these errors.
const (
	erTooManyTables = 1116
	erTooManyFields = 1117
	erStackOverrun  = 1436
	erNestedSelects = 1473
	erCapacity      = 3170
)
