package mysql

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// rawBytes lets an INSERT put into columns of bytes what the client sent for them, and not what that is as a text in
// UTF-8: with MySQL a text in quotes goes into them as it is. It is for connections that do not speak UTF-8 alone.
func (l *long) rawBytes(ctx context.Context) error {
	s := known(l.conn)
	if s == nil || s.text.client == nil || firstWord(l.query) != "insert" {
		return nil
	}
	insert, values := l.insertOf()
	if values == nil {
		return nil
	}
	columns, err := l.columnsFor(ctx, s, insert)
	if err != nil {
		return err
	}
	changed := false
	for _, row := range values.Values {
		for i, e := range row {
			v, ok := e.(*sqlparser.SQLVal)
			if !ok || i >= len(columns) || columns[i] == nil || !columns[i].Type.IsBytes() {
				continue
			}
			switch {
			case v.Type == sqlparser.StrVal:
				v.Type, v.Val = sqlparser.HexVal, []byte(hex.EncodeToString(s.text.client.Encode(v.Val)))
				changed = true
			case v.Type == sqlparser.ValArg && len(v.Val) > 1:
				s.rawParameter(l.bound, string(v.Val[1:]))
			}
		}
	}
	if changed {
		l.query = sqlparser.String(insert)
	}
	return nil
}

// rawParameter makes what the client sent of a parameter again.
func (s *session) rawParameter(bound *vmysql.PrepareData, name string) {
	number, err := strconv.Atoi(strings.TrimPrefix(name, "v"))
	if bound == nil || err != nil {
		return
	}
	if b := bound.BindVars[name]; b != nil && b.Type != sqltypes.Null && spokenParameter(bound, number-1) {
		b.Type, b.Value = sqltypes.VarBinary, s.text.client.Encode(b.Value)
	}
}

// insertOf is the statement if it is an INSERT of VALUES; nil, nil: it is another.
func (l *long) insertOf() (*sqlparser.Insert, *sqlparser.AliasedValues) {
	options, err := l.ParserOptionsForConnection(l.conn)
	if err != nil {
		return nil, nil // it will be told
	}
	st, err := sqlparser.ParseWithOptions(context.Background(), l.query, options)
	if err != nil {
		return nil, nil // as above
	}
	insert, ok := st.(*sqlparser.Insert)
	if !ok {
		return nil, nil
	}
	values, ok := insert.Rows.(*sqlparser.AliasedValues)
	if !ok {
		return nil, nil
	}
	return insert, values
}

// columnsFor are the columns that the values of a row are for; nil for one that there is not.
func (l *long) columnsFor(ctx context.Context, s *session, insert *sqlparser.Insert) ([]*message.Column, error) {
	db := insert.Table.DbQualifier.String()
	if db == "" {
		db = s.GetCurrentDatabase()
	}
	_, def, _, err := l.door.find(ctx, queue.Name{Namespace: db, Name: insert.Table.Name.String()})
	if err != nil {
		return nil, absent(err)
	}
	all := def.Columns
	if len(all) == 0 {
		all = plainColumns
	}
	var columns []*message.Column
	if len(insert.Columns) == 0 {
		for i := range all {
			columns = append(columns, &all[i])
		}
		return columns, nil
	}
	for _, name := range insert.Columns {
		var c *message.Column
		if n, ok := all.Lookup(name.String()); ok {
			c = &all[n]
		}
		columns = append(columns, c)
	}
	return columns, nil
}
