package mysql

import (
	"fmt"
	"strings"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// writeMoments writes the dates and times that a client has bound as such in full. The protocol's library writes their
// numbers without the zeros that these begin with, and so makes 0.4 seconds of 4,000 microseconds.
func writeMoments(p *vmysql.PrepareData) {
	for i, typ := range p.ParamsType {
		switch querypb.Type(typ) {
		case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp, sqltypes.Time:
			if v := p.BindVars[fmt.Sprint("v", i+1)]; v != nil && v.Value != nil {
				v.Value = []byte(withZeros(string(v.Value)))
			}
		}
	}
}

// withZeros writes a date or time with all digits of its numbers: four of a year, six of a fraction, two of others.
func withZeros(text string) string {
	var out strings.Builder
	for at, digits := 0, 0; at < len(text); at += max(digits, 1) {
		digits = len(text) - at - len(strings.TrimLeft(text[at:], "0123456789"))
		if digits == 0 {
			out.WriteByte(text[at])
			continue
		}
		wanted, end := 2, at+digits
		switch {
		case at > 0 && text[at-1] == '.':
			wanted = 6
		case at == 0 && end < len(text) && text[end] == '-':
			wanted = 4
		}
		out.WriteString(strings.Repeat("0", max(0, wanted-digits)))
		out.WriteString(text[at:end])
	}
	return out.String()
}
