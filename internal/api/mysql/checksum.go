package mysql

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// quickly is a CHECKSUM TABLE that is to read no rows.
var quickly = newForm(`(?is)\squick\s*;?\s*$`)

// checksums answers CHECKSUM TABLE: a sum over the rows that a SELECT shows, whatever their order. It is NULL for a
// table that is none, with a warning, and with QUICK, as where MySQL keeps none.
func (l *long) checksums(ctx context.Context, s *session, tables []queue.Name) error {
	fields := []*querypb.Field{
		{Name: "Table", OrgName: "Table", Type: sqltypes.VarChar, Charset: utf8mb4, ColumnLength: 512},
		{Name: "Checksum", OrgName: "Checksum", Type: sqltypes.Int64, Charset: binaryCharset, ColumnLength: 22},
	}
	if l.answer == nil {
		return l.answerTable(fields, nil)
	}
	var rows [][]sqltypes.Value
	var missing []string
	for _, n := range tables {
		full, sum := n.Namespace+"."+n.Name, sqltypes.NULL
		there, err := l.visible(ctx, s, n)
		if err != nil {
			return err
		}
		if !there {
			missing = append(missing, full)
		} else if !quickly.is(l.query) {
			total, err := l.checksum(ctx, n)
			if err != nil {
				return err
			}
			sum = sqltypes.MakeTrusted(sqltypes.Int64, strconv.AppendUint(nil, uint64(total), 10))
		}
		rows = append(rows, []sqltypes.Value{sqltypes.MakeTrusted(sqltypes.VarChar, []byte(full)), sum})
	}
	s.ClearWarnings()
	for _, full := range missing {
		s.warn(erNoSuchTable, "Table '"+full+"' doesn't exist")
	}
	return l.answerTable(fields, rows)
}

// binaryCharset is the number of no character set in a field.
const binaryCharset = 63

// checksum reads a table's rows, with the rights and within the bounds of a SELECT.
func (l *long) checksum(ctx context.Context, n queue.Name) (total uint32, err error) {
	query := "SELECT * FROM " + asName(n.Namespace) + "." + asName(n.Name)
	var row []byte
	err = l.execute(ctx, l.conn, query, nil, func(r *sqltypes.Result, _ bool) error {
		for _, values := range r.Rows {
			row = row[:0]
			for _, v := range values { // a NULL is no text of any length
				if v.IsNull() {
					row = append(row, 0xff)
					continue
				}
				row = binary.AppendUvarint(append(row, 0), uint64(v.Len()))
				row = append(row, v.ToBytes()...)
			}
			total += crc32.ChecksumIEEE(row)
		}
		return nil
	})
	return total, err
}

func asName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// visible tells whether there is such a table for the session's user.
func (l *long) visible(ctx context.Context, s *session, n queue.Name) (bool, error) {
	_, _, _, err := l.door.find(ctx, n)
	return err == nil && l.door.users.Visible(s.user, l.door.store.Resolve(n)), absent(err)
}

// histogram is an ANALYZE TABLE about what a planner knows of columns.
var histogram = newForm("(?is)^\\s*analyze\\s+(?:no_write_to_binlog\\s+|local\\s+)?tables?\\s+" +
	"((?:`(?:[^`]|``)+`|[\\w$.])+)\\s+(update|drop)\\s+histogram\\s+on\\s+((?:`(?:[^`]|``)+`|[\\w$]|\\s*,\\s*)+?)" +
	"(?:\\s+with\\s+\\d+\\s+buckets)?(?:\\s+(?:auto|manual)\\s+update)?\\s*;?\\s*$")

// histograms answers it as MySQL does: conditions make their own indexes, and no planner asks for more.
func (l *long) histograms(ctx context.Context, s *session, m []string) error {
	tables, err := s.tablesNamed(m[1])
	if err != nil {
		return err
	}
	n := tables[0]
	full := n.Namespace + "." + n.Name
	names := []string{"Table", "Op", "Msg_type", "Msg_text"}
	_, def, _, err := l.door.find(ctx, n)
	if failed := absent(err); failed != nil {
		return failed
	}
	if err != nil || !l.door.users.Visible(s.user, l.door.store.Resolve(n)) {
		return l.answerRows(names, []string{full, "histogram", "Error", "Table '" + full + "' doesn't exist"})
	}
	done := "created"
	if strings.EqualFold(m[2], "drop") {
		done = "removed"
	}
	var rows [][]string
	for _, c := range tableNamed.FindAllStringSubmatch(m[3], -1) {
		column := unquoted(c[2])
		i := slices.IndexFunc(def.Columns, func(d message.Column) bool { return strings.EqualFold(d.Name, column) })
		if i < 0 {
			rows = append(rows, []string{full, "histogram", "Error", "The column '" + column + "' does not exist."})
			continue
		}
		text := "Histogram statistics " + done + " for column '" + def.Columns[i].Name + "'."
		rows = append(rows, []string{full, "histogram", "status", text})
	}
	return l.answerRows(names, rows...)
}
