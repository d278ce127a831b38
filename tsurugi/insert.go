package tsurugi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// QuoteName makes a name one that may stand in SQL, whatever is in it. Names without quotes are taken in lower case;
// this one is taken as it is.
func QuoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// An InsertMode says what becomes of a row whose primary key is there already.
type InsertMode uint8

// The modes.
const (
	InsertOnly      InsertMode = iota // it is an error, and aborts the transaction
	InsertOrReplace                   // it takes the other's place
	InsertOrIgnore                    // it is left out
)

// MaxRows is how many rows TsurugiDB takes in one INSERT.
const MaxRows = 5_000

// An Insert is the text of an INSERT of a number of rows and its placeholders, for Session.Prepare or Session.Cached.
// Values are given row by row.
type Insert struct {
	SQL          string
	Placeholders []Placeholder
}

// NewInsert makes an Insert of rows with these columns, of which only name and type count. The names are quoted.
func NewInsert(table string, columns []Column, rows int, mode InsertMode) (Insert, error) {
	if len(columns) == 0 {
		return Insert{}, errors.New("tsurugi: an INSERT needs columns")
	}
	if rows < 1 || rows > MaxRows {
		return Insert{}, fmt.Errorf("tsurugi: an INSERT has 1 to %d rows, not %d", MaxRows, rows)
	}
	var b strings.Builder
	b.Grow(64 + rows*len(columns)*8)
	b.WriteString("INSERT ")
	switch mode {
	case InsertOrReplace:
		b.WriteString("OR REPLACE ")
	case InsertOrIgnore:
		b.WriteString("OR IGNORE ")
	}
	b.WriteString("INTO " + QuoteName(table) + " (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(QuoteName(c.Name))
	}
	b.WriteString(") VALUES ")
	holders := make([]Placeholder, 0, rows*len(columns))
	for r := range rows {
		if r > 0 {
			b.WriteString(", ")
		}
		for i, c := range columns {
			name := "p" + strconv.Itoa(len(holders))
			holders = append(holders, Placeholder{Name: name, Type: c.Type})
			if i == 0 {
				b.WriteString("(:")
			} else {
				b.WriteString(", :")
			}
			b.WriteString(name)
		}
		b.WriteByte(')')
	}
	return Insert{b.String(), holders}, nil
}
