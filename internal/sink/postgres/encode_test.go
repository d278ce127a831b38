package postgres

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// FuzzNumeric reads back what is written of a decimal number with the reader of a client.
func FuzzNumeric(f *testing.F) {
	for _, seed := range []string{"0", "-0", "1", "10000", "-12.50", "0.0001", "0.00001", "99999999.99990000", ".5",
		"5.", "+7", "", "-", ".", "1.2.3", "1e5", strings.Repeat("9", 200) + "." + strings.Repeat("0", 99) + "1"} {
		f.Add(seed)
	}
	types := pgtype.NewMap()
	f.Fuzz(func(t *testing.T, text string) {
		out, err := appendNumeric(nil, text)
		if err != nil {
			if len(out) != 0 {
				t.Errorf("%q: an error and %d bytes", text, len(out))
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q was taken for a number", text)
		}
		var n pgtype.Numeric
		if err := types.Scan(pgtype.NumericOID, pgtype.BinaryFormatCode, out[4:], &n); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got := new(big.Rat).SetInt(n.Int)
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.Exp, -n.Exp))), nil))
		if n.Exp < 0 {
			got.Quo(got, scale)
		} else {
			got.Mul(got, scale)
		}
		if got.Cmp(want) != 0 {
			t.Errorf("%q became %v", text, got)
		}
	})
}

// FuzzEscape reads back what is written of a text, as PostgreSQL's documentation says that it does.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", `\N`, "a\tb\nc\rd\\", `\.`, "飛脚", "\\\\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		field := appendEscaped(nil, text)
		if strings.ContainsAny(string(field), "\t\n\r") || string(field) == `\N` {
			t.Fatalf("%q ends a field or is null", field)
		}
		var back []byte
		for i := 0; i < len(field); i++ {
			c := field[i]
			if c == '\\' {
				i++
				switch c = field[i]; c {
				case 'n':
					c = '\n'
				case 'r':
					c = '\r'
				case 't':
					c = '\t'
				}
			}
			back = append(back, c)
		}
		if string(back) != text {
			t.Errorf("%q became %q", text, back)
		}
	})
}

// FuzzPlace reads places out of whatever a server may say.
func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"COPY t, line 3, column b", "COPY t, line 99999999999999999999", "COPY t",
		"t, line 3 COPY", "COPY t, Zeile 2, Spalte b: \"x\"", ""} {
		f.Add(seed)
	}
	b := &rows.Block{Table: &rows.Table{Name: rows.Name{"s", "t"}}, Columns: []rows.Column{{Name: "a"}, {Name: "b"}},
		Values: make([]rows.Value, 6)}
	f.Fuzz(func(t *testing.T, where string) {
		if row, column := place(where, b); row < -1 || row >= b.Rows() || row < 0 && column != "" {
			t.Errorf("%q: %d, %q", where, row, column)
		}
	})
}

func TestTheRowAndColumnOfAnErrorAreReadInAnyLanguage(t *testing.T) {
	b := &rows.Block{Table: &rows.Table{Name: rows.Name{"s", "t 1"}},
		Columns: []rows.Column{{Name: "a"}, {Name: "a b"}}, Values: make([]rows.Value, 20)}
	for where, want := range map[string]struct {
		row    int
		column string
	}{
		`COPY t 1, line 3`:                               {2, ""},
		`COPY t 1, line 10, column a`:                    {9, "a"},
		`COPY t 1, line 3, column a b: "x, line 7"`:      {2, "a b"},
		`COPY t 1, Zeile 4, Spalte a: »x«`:               {3, "a"},
		"PL/pgSQL function f() line 9\nCOPY t 1, line 2": {1, ""},
		`COPY t 1, line 11`:                              {-1, ""},
		`COPY other, line 3`:                             {-1, ""},
		"SQL statement \"INSERT INTO log VALUES (1)\"":   {-1, ""},
		"":                   {-1, ""},
		"COPY \"t 1\", 5 行目": {4, ""},
	} {
		if row, column := place(where, b); row != want.row || column != want.column {
			t.Errorf("%q: row %d, column %q", where, row, column)
		}
	}
}

func TestWhatDoesNotFitTheBinaryFormatIsAnErrorAndNotAnotherValue(t *testing.T) {
	for _, c := range []struct {
		form form
		v    rows.Value
	}{
		{formFloat4, rows.FloatOf(1e39)},
		{formDate, rows.DateOf(1 << 40)},
		{formTimestamp, rows.TimestampOf(1<<62, 0)},
		{formTimestamp, rows.TimestampOf(-1<<62, 0)},
		{formNumeric, rows.DecimalOf("1" + strings.Repeat("0", numericDigits))},
		{formNumeric, rows.DecimalOf("0." + strings.Repeat("0", numericScale) + "1")},
	} {
		if out, err := appendValue(nil, c.form, c.v); err == nil {
			t.Errorf("%v became %x", c.v.Text(), out)
		}
	}
}

func TestTimesBeforeTheFirstYearAreThoseBeforeChrist(t *testing.T) {
	for year, want := range map[int]string{0: "0001-03-04 BC", -4712: "4713-03-04 BC", 1: "0001-03-04",
		12345: "12345-03-04"} {
		if got := string(appendTime(nil, time.Date(year, 3, 4, 0, 0, 0, 0, time.UTC), "2006-01-02")); got != want {
			t.Errorf("%d: %s", year, got)
		}
	}
}
