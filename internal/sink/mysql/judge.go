package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// failure is an error of a session, judged where it was known what was going on.
type failure struct {
	rows.Fault
	err error
}

// Error is the database's own message.
func (e *failure) Error() string { return "MySQL: " + e.err.Error() }

// Unwrap is what happened.
func (e *failure) Unwrap() error { return e.err }

// seen notes whether an error means the end of the session. It returns it as it is.
func (s *session) seen(err error) error {
	var e *mysql.MySQLError
	if err != nil && (!errors.As(err, &e) || numbers[e.Number].ends) {
		s.broken = true
	}
	return err
}

func (s *session) fail(f rows.Fault, err error) error {
	f.Broken = s.broken
	return &failure{f, err}
}

// failed judges an error of something that writes no rows. It keeps nil.
func (s *session) failed(err error) error {
	if err == nil {
		return nil
	}
	return s.fail(classify(err), err)
}

// meaning is what one of the server's errors means.
type meaning struct {
	class rows.Class
	ends  bool // the session
}

// numbers are the errors that have a meaning of their own. Of the others, those of statements are about the row.
var numbers = map[uint16]meaning{
	1205: {class: rows.Conflict}, 1213: {class: rows.Conflict}, 1020: {class: rows.Conflict},
	3572: {class: rows.Conflict}, 1412: {class: rows.Conflict},
	// No place, no memory, too many of something, not now.
	1021: {class: rows.Away}, 1114: {class: rows.Away}, 1030: {class: rows.Away}, 1026: {class: rows.Away},
	1037: {class: rows.Away}, 1038: {class: rows.Away}, 1041: {class: rows.Away},
	1023: {class: rows.Away}, 1024: {class: rows.Away}, 1180: {class: rows.Away}, 1206: {class: rows.Away},
	1290: {class: rows.Away}, 1317: {class: rows.Away}, 1297: {class: rows.Away},
	1461: {class: rows.Away}, 1836: {class: rows.Away}, 3024: {class: rows.Away}, 1969: {class: rows.Away},
	1792: {class: rows.Away}, 1223: {class: rows.Away},
	1040: {rows.Away, true}, 1053: {rows.Away, true}, 1077: {rows.Away, true}, 1079: {rows.Away, true},
	1129: {rows.Away, true}, 1152: {rows.Away, true}, 1158: {rows.Away, true},
	1159: {rows.Away, true}, 1160: {rows.Away, true}, 1161: {rows.Away, true}, 1184: {rows.Away, true},
	1203: {rows.Away, true}, 1226: {rows.Away, true},
	1927: {rows.Away, true}, 4031: {rows.Away, true}, 3169: {rows.Away, true},
	// There is no such table, or no such database.
	1146: {class: rows.NoTable}, 1051: {class: rows.NoTable}, 1109: {class: rows.NoTable},
	// Columns, or what is done with them, are not what they were.
	1054: {class: rows.Drift}, 1136: {class: rows.Drift}, 1110: {class: rows.Drift}, 1906: {class: rows.Drift},
	3105: {class: rows.Drift}, 1615: {class: rows.Drift}, 1243: {class: rows.Drift}, 1364: {class: rows.Drift},
	// Nobody may do that.
	1044: {class: rows.Refused}, 1045: {class: rows.Refused}, 1049: {class: rows.Refused}, 1142: {class: rows.Refused},
	1143: {class: rows.Refused}, 1227: {class: rows.Refused},
	1130: {class: rows.Refused}, 1251: {class: rows.Refused}, 1370: {class: rows.Refused}, 1396: {class: rows.Refused},
	1698: {class: rows.Refused}, 1820: {class: rows.Refused},
	1862: {class: rows.Refused}, 3118: {class: rows.Refused}, 3159: {class: rows.Refused}, 1036: {class: rows.Refused},
	1288: {class: rows.Refused}, 1471: {class: rows.Refused},
	4151: {class: rows.Refused},
}

// valueError is about a value that the server would not take.
type valueError struct {
	row    int
	column string
	err    error
}

func (e *valueError) Error() string { return fmt.Sprintf("column %s: %v", e.column, e.err) }
func (e *valueError) Unwrap() error { return e.err }

// columnNull is the error of a null for a column that takes none.
const columnNull = 1048

func isNumber(err error, number uint16) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == number
}

// otherKeyError is a row for which there is another one with the same value in a unique key, but not the one that mode
// goes by.
type otherKeyError struct{ err error }

func (e *otherKeyError) Error() string {
	return "another unique key than the one that mode goes by has its value already in another row: " + e.err.Error()
}
func (e *otherKeyError) Unwrap() error { return e.err }

// classify says what an error means, whatever was going on.
func classify(err error) rows.Fault {
	f := rows.Fault{Class: rows.Away, Row: -1}
	var e *mysql.MySQLError
	var value *valueError
	var name *nameError
	var missing *noTableError
	var untrusted *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &e):
		if m, ok := numbers[e.Number]; ok {
			f.Class = m.class
		} else {
			f.Class = rows.BadRow
		}
	case errors.Is(err, mysql.ErrPktTooLarge):
		f.Class = rows.BadRow
	case errors.As(err, &value):
		f.Class, f.Row, f.Column = rows.BadRow, value.row, value.column
	case errors.As(err, &missing), errors.As(err, &name):
		f.Class = rows.NoTable
	case errors.As(err, &untrusted), errors.As(err, &unknown), errors.Is(err, mysql.ErrNoTLS):
		f.Class = rows.Refused
	}
	return f
}

var (
	atRow    = regexp.MustCompile(` at row (\d+)`)
	inColumn = regexp.MustCompile("(?i)\\bcolumn '([^']*)'|\\bcolumn (?:`[^`]*`\\.){0,2}`([^`]*)`")
)

// blamed judges an error of a statement that writes n rows of a block, from the first on. It keeps nil.
func (s *session) blamed(b *rows.Block, first, n int, err error) error {
	if err == nil {
		return nil
	}
	f := classify(err)
	var e *mysql.MySQLError
	if f.Class == rows.BadRow && errors.As(err, &e) {
		if n == 1 {
			f.Row = first
		} else if m := atRow.FindAllStringSubmatch(e.Message, -1); m != nil && rowNumbers[e.Number] {
			// The last: a value that is shown may say the same.
			if at, err := strconv.Atoi(m[len(m)-1][1]); err == nil && at >= 1 && at <= n {
				f.Row = first + at - 1
			}
		}
		if m := inColumn.FindStringSubmatch(e.Message); m != nil {
			for _, c := range b.Columns {
				if c.Name == m[1] || c.Name == m[2] {
					f.Column = c.Name
				}
			}
		}
	}
	return s.fail(f, err)
}

// rowNumbers are the errors that end with the row, as it is counted in the statement: a number out of range, text that
// is too long or is none of the column's, a wrong date. (Of others, and of what a trigger does, it is the first of
// another statement.)
var rowNumbers = map[uint16]bool{1264: true, 1265: true, 1366: true, 1406: true, 1292: true, 1411: true, 1367: true,
	1300: true, 3140: true}

// undecided tells whether an error leaves open if what was asked for was done: everything but an answer of the server
// that is a refusal, and what was never sent.
func undecided(err error) bool {
	if errors.Is(err, driver.ErrBadConn) {
		return false // the library says that only of what the server has not got
	}
	var early *preparing
	if errors.As(err, &early) {
		return false
	}
	var e *mysql.MySQLError
	return !errors.As(err, &e) || numbers[e.Number].ends
}

// cause adds why ctx ended, if it has.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil && !errors.Is(err, why) {
		return fmt.Errorf("no answer in time: %w (%w)", why, err)
	}
	return err
}
