package tsurugi_test

import (
	"strconv"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// columnsOf makes n columns: a key and DOUBLEs.
func columnsOf(n int) []tsurugi.Column {
	columns := []tsurugi.Column{{Name: "id", Type: tsurugi.Int8Type}}
	for i := 1; i < n; i++ {
		columns = append(columns, tsurugi.Column{Name: "c" + strconv.Itoa(i), Type: tsurugi.Float8Type})
	}
	return columns
}

// rowsOf makes values for rows of such columns.
func rowsOf(columns, rows int) []tsurugi.Value {
	values := make([]tsurugi.Value, 0, columns*rows)
	for r := range rows {
		values = append(values, tsurugi.Int8(int64(r)+1e6))
		for c := 1; c < columns; c++ {
			values = append(values, tsurugi.Float8(float64(r*c)/7))
		}
	}
	return values
}

// BenchmarkRows writes rows of ten columns, a hundred in a statement, to a server that answers and does nothing else,
// in the same process. So ns/row is more than the client's own share.
func BenchmarkRows(b *testing.B) {
	for _, columns := range []int{1, 10, 100} {
		b.Run(strconv.Itoa(columns)+"columns", func(b *testing.B) {
			const rows = 100
			s := connect(b, echo(b), tsurugi.Config{})
			insert, err := tsurugi.NewInsert("t", columnsOf(columns), rows, tsurugi.InsertOnly)
			if err != nil {
				b.Fatal(err)
			}
			st := prepare(b, s, insert.SQL, insert.Placeholders...)
			tx := begin(b, s, tsurugi.TxOptions{})
			values := rowsOf(columns, rows)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if _, err := tx.Send(b.Context(), st, values...); err != nil {
					b.Fatal(err)
				}
				n += rows
			}
			if err := tx.Commit(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
		})
	}
}

// BenchmarkEncode makes the message of such a statement and sends it nowhere.
func BenchmarkEncode(b *testing.B) {
	const rows, columns = 100, 10
	values := rowsOf(columns, rows)
	params := message.Params{Values: values}
	for i := range values {
		params.Holders = append(params.Holders, message.Placeholder{Name: "p" + strconv.Itoa(i)})
	}
	r := &message.Request{Kind: message.PreparedStatement, Tx: []byte{8, 1}, Stmt: []byte{8, 2}, Params: params,
		Version: wire.SQLVersion}
	var buf []byte
	n := 0
	for b.Loop() {
		buf = r.Append(buf[:0])
		n += rows
	}
	b.SetBytes(int64(len(buf)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}
