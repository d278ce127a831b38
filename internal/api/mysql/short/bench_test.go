package short

import (
	"context"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

var hot = []struct{ name, query string }{
	{"wait", "SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)"},
	{"end", "select queue_end()"},
	{"select", "select * from q4m_test"},
	{"insert", "INSERT INTO q4m_test (id, enqueued_at, body) VALUES (12345, 1501686146, '" + strings.Repeat("x", 1000) +
		"')"},
	{"escaped", "INSERT INTO q4m_test (id, enqueued_at, body) VALUES (12345, 1501686146, '" +
		strings.Repeat(`it\'s "x" `, 100) + "')"},
	{"rows", "INSERT INTO q4m_test VALUES (1, 2, '" + strings.Repeat("x", 1000) + "')" +
		strings.Repeat(", (1, 2, '"+strings.Repeat("x", 1000)+"')", 999)},
	// what is not recognized
	{"long", "SELECT id, body FROM q4m_test WHERE enqueued_at >= 1501686146 ORDER BY id LIMIT 10"},
}

func BenchmarkParse(b *testing.B) {
	for _, c := range hot {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.query)))
			for b.Loop() {
				Parse(c.query, Mode{})
			}
		})
	}
}

// BenchmarkFullParser is what the short path saves, without the planning and the execution that follow.
func BenchmarkFullParser(b *testing.B) {
	for _, c := range hot {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.query)))
			for b.Loop() {
				if _, err := sqlparser.ParseWithOptions(context.Background(), c.query,
					sqlparser.ParserOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
