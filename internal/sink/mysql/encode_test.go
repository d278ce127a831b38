package mysql

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// FuzzField reads back what is written of a text for LOAD DATA, as MySQL's documentation says that it does.
func FuzzField(f *testing.F) {
	for _, seed := range []string{"", `\N`, "N", "a\tb\nc\rd\\", "\x00\x1a\b", "飛脚", "\\\\n'\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		field, err := appendField(nil, rows.TextOf(text))
		if err != nil || string(field) == `\N` {
			t.Fatalf("%q became %q, %v", text, field, err)
		}
		var back []byte
		for i := 0; i < len(field); i++ {
			c := field[i]
			switch c {
			case '\t', '\n':
				if i == 0 || field[i-1] != '\\' {
					t.Fatalf("%q ends a field", field)
				}
			case '\\':
				i++
				if c = field[i]; c == '0' {
					c = 0
				}
			}
			back = append(back, c)
		}
		if string(back) != text {
			t.Errorf("%q became %q", text, back)
		}
	})
}

// FuzzAddress reads addresses. What it says of one that it does not understand shows nothing of it.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"mysql://u:secret@h:1/db?tls=true", "u:secret@tcp(h:1)/db", "u@unix(/s)/db", "secret",
		"mysql://secret", "postgres://secret@h/db", "://", "mysql://u:secret@h/db?x=%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		c, err := parse(address)
		switch {
		case err == nil && c.DBName == "":
			t.Errorf("%q names no database", address)
		case err != nil && strings.Contains(address, "secret") && strings.Contains(err.Error(), "secret"):
			t.Errorf("%q: %v", address, err)
		}
	})
}

func TestTheStatementsOfABlockArePowersOfTwo(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 2, 255: 128, 256: 256, 1000: 512} {
		if got := powerOfTwo(n); got != want {
			t.Errorf("%d: %d", n, got)
		}
	}
	b := &rows.Block{Table: &rows.Table{Name: rows.Name{"t"}}, Columns: make([]rows.Column, 1000)}
	p, err := newPlan(b)
	if err != nil || p.most != 64 || strings.Count(p.statement(p.most), "?") > placeholders {
		t.Errorf("%v, %d rows of 1000 columns", err, p.most)
	}
	s := &session{packet: 10_000}
	b.Columns = b.Columns[:1]
	for range 100 {
		b.Values = append(b.Values, rows.TextOf(strings.Repeat("x", 1000)))
	}
	if n := s.part(b, &plan{most: 64}, 0); n != 4 {
		t.Errorf("%d rows of 1,032 bytes in half of 10,000", n)
	}
	b.Values[0] = rows.TextOf(strings.Repeat("x", 20_000))
	if n := s.part(b, &plan{most: 64}, 0); n != 1 {
		t.Errorf("%d rows, the first of which is too large", n)
	}
}
