package mysql

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// TestErrorsHoldNoValues sends large values where they do not fit, in every way, and looks how much of them comes back.
func TestErrorsHoldNoValues(t *testing.T) {
	for _, noShort := range []bool{false, true} {
		r := newRig(t, Config{}, nil)
		r.door.noShort = noShort
		for _, args := range []string{"", "interpolateParams=true"} {
			c := r.connect(args)
			exec(t, c, "CREATE TABLE IF NOT EXISTS e (s varchar(10), n int, d datetime, t time, y year, e "+
				"decimal(5,2), b binary(3), j json) ENGINE=QUEUE")
			for _, value := range sampletest.Of(t, amount(4, 4), strings.Repeat("geheim", 12_000),
				strings.Repeat("sehr geheim, it's ", 4000), "{"+strings.Repeat(" 'geheim'", 8000),
				strings.Repeat("秘密🚚é", 6000)) {
				for _, statement := range []string{
					"INSERT INTO e (s) VALUES (?)", "INSERT INTO e (n) VALUES (?)", "INSERT INTO e (d) VALUES (?)",
					"INSERT INTO e (t) VALUES (?)",
					"INSERT INTO e (y) VALUES (?)", "INSERT INTO e (e) VALUES (?)", "INSERT INTO e (b) VALUES (?)",
					"INSERT INTO e (s) VALUES (concat(?, 'x'))",
					"SET time_zone = ?", "SET NAMES ?", "SET autocommit = ?",
				} {
					_, err := c.ExecContext(t.Context(), statement, value)
					if why := tells(err, value); why != "" {
						t.Errorf("long %t, %q, %s: %s: %.500v", noShort, args, statement, why, err)
					}
				}
			}
		}
	}
}

// TestErrorsOfStatementsHoldNoValues: what stands in the statement itself, in a prepared one, and in a database's name.
func TestErrorsOfStatementsHoldNoValues(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	long := strings.Repeat("geheim", 12_000)
	for _, statement := range []string{"SELECT '" + long + "' FROM FROM", "SELEKT " + long,
		"SELECT * FROM `" + long + "`", "SELECT `" + long + "`", "USE `" + long + "`", "SELECT " + long + "()"} {
		_, asText := c.ExecContext(t.Context(), statement)
		_, prepared := c.PrepareContext(t.Context(), statement)
		for _, err := range []error{asText, prepared} {
			if why := tells(err, long); why != "" {
				t.Errorf("%.30s: %s: %.600v", statement, why, err)
			}
		}
	}
	raw := r.dialRaw()
	raw.write(0, append([]byte{2}, long...))
	p := raw.must()
	if why := tells(errors.New(string(p[9:])), long); p[0] != 0xff || why != "" {
		t.Errorf("COM_INIT_DB: %s: %.600q", why, p)
	}
}

// tells is what is wrong with the error for a value that did not fit: there is none, it holds more of the value than is
// promised, or letters of which a part is missing.
func tells(err error, value string) string {
	if err == nil {
		return "no error"
	}
	text := err.Error()
	if held := heldOf(text, value); held > 128 {
		return fmt.Sprintf("it holds %d bytes of the value", held)
	}
	if strings.ContainsAny(text, "?\uFFFD") || !utf8.ValidString(text) {
		return "it holds parts of letters"
	}
	return ""
}

// heldOf is how many bytes of a text are the value's: of the passages of four bytes and more that both have, without
// the quotes and blanks around them.
func heldOf(text, value string) (held int) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && strings.Contains(value, text[:n+1]) {
			n++
		}
		if passage := strings.Trim(text[:n], "' "); len(passage) >= 4 {
			held += len(passage)
		}
		text = text[max(n, 1):]
	}
	return held
}

// TestWhatCannotBePreparedIsASyntaxError, and not an unknown one: drivers that prepare everything show it to programs.
func TestWhatCannotBePreparedIsASyntaxError(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for statement, want := range map[string]driver.MySQLError{
		"SELEKT ?":                  {Number: 1064, SQLState: [5]byte([]byte("42000"))},
		"SELECT 1 FROM":             {Number: 1064, SQLState: [5]byte([]byte("42000"))},
		"SELECT 1; SELECT 2":        {Number: 1064, SQLState: [5]byte([]byte("42000"))},
		"":                          {Number: 1065, SQLState: [5]byte([]byte("42000"))},
		" -- nothing":               {Number: 1065, SQLState: [5]byte([]byte("42000"))},
		"SHOW ENGINE QUEUE STATUS":  {Number: 1295, SQLState: [5]byte([]byte("HY000"))},
		"EXECUTE p":                 {Number: 1295, SQLState: [5]byte([]byte("HY000"))},
		"PREPARE p FROM 'SELECT 1'": {Number: 1295, SQLState: [5]byte([]byte("HY000"))},
		"DEALLOCATE PREPARE p":      {Number: 1295, SQLState: [5]byte([]byte("HY000"))},
		"FLUSH STATUS":              {Number: 1295, SQLState: [5]byte([]byte("HY000"))},
		"DO 1":                      {Number: 1295, SQLState: [5]byte([]byte("HY000"))},
	} {
		_, err := c.PrepareContext(t.Context(), statement)
		var got *driver.MySQLError
		if !errors.As(err, &got) || got.Number != want.Number || got.SQLState != want.SQLState {
			t.Errorf("%q: %v, want error %d (%s)", statement, err, want.Number, want.SQLState)
		}
	}
	one(t, c, int64(3), "SELECT ? + 2", 1)
}

// TestGlobalsThatCannotBeSetAreRefused: what holds for the server and has no effect here is not accepted in silence.
func TestGlobalsThatCannotBeSetAreRefused(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for statement, want := range map[string]int{
		"SET GLOBAL max_connections = 5":             1238,
		"SET @@global.general_log = 1":               1238,
		"SET GLOBAL read_only = 1":                   1238,
		"SET GLOBAL max_allowed_packet = 1073741824": 1238,
		"SET GLOBAL version = '9'":                   1238,
		"SET max_connections = 5":                    1229,
		"SET GLOBAL nothing_like_that = 1":           1193,
		"SET GLOBAL sql_mode = DEFAULT":              0,
		"SET GLOBAL queue_lease = 0":                 0,
	} {
		if _, err := c.ExecContext(t.Context(), statement); errorNumber(err) != want {
			t.Errorf("%s: %v, want error %d", statement, err, want)
		}
	}
}
