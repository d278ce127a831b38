package rows

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkRows reads batches of 1,000 messages of so many floats into rows, written as numbers and (as fields of CSV
// are) as texts; an operation is a row. -1 digits are as many as it takes.
func BenchmarkRows(b *testing.B) {
	for _, c := range []struct {
		columns int
		field   string
		digits  int
	}{{1, `"value%d":%s`, 17}, {10, `"value%d":%s`, 6}, {10, `"value%d":%s`, 17}, {10, `"value%d":%s`, -1},
		{10, `"value%d":"%s"`, 6}, {10, `"value%d":"%s"`, 17}, {100, `"value%d":%s`, 17}} {
		columns := c.columns
		b.Run(fmt.Sprintf("%d/%d-digits/texts=%v", columns, c.digits, strings.HasSuffix(c.field, `"`)),
			func(b *testing.B) {
				t := &Table{Name: Name{"t"}}
				for i := range columns {
					t.Columns = append(t.Columns, Column{Name: fmt.Sprint("value", i), Kind: Float, Bits: 64,
						Nullable: true})
				}
				s := settings{missing: asDefault}
				p, err := newPlan(t, &s)
				if err != nil {
					b.Fatal(err)
				}
				r := rand.New(rand.NewPCG(1, 2))
				batch := make([]*message.Message, 1000)
				for i := range batch {
					var fields []string
					for n := range columns {
						fields = append(fields,
							fmt.Sprintf(c.field, n, strconv.FormatFloat(r.Float64()*1000, 'g', c.digits, 64)))
					}
					batch[i] = &message.Message{Body: []byte("{" + strings.Join(fields, ",") + "}")}
				}
				todo := make([]int, len(batch))
				for i := range todo {
					todo[i] = i
				}
				outcomes := make([]component.Outcome, len(batch))
				b.ReportAllocs()
				for n := 0; n < b.N; n += len(batch) {
					made := newBuilder(&s, p)
					made.build(batch, todo, outcomes)
					if len(made.piles) != 1 || len(made.piles[0].from) != len(batch) {
						b.Fatal(outcomes[0].Reason)
					}
				}
			})
	}
}
