//go:build linux

package databases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// kinds are the sinks, by the names of shops.
var kinds = map[string]string{"PostgreSQL": "postgres", "MariaDB": "mysql"}

const sinkFile = `
sources:
  readings: { type: queue, queue: readings }
sinks:
  table:
    type: KIND
    inputs: [readings]
    database: "ADDRESS"
    table: readings
    id_column: id
    columns: { n: n, "temp.c": celsius, at: at }
    batch: { max_events: 200 }
    request: { retry_attempts: unlimited, retry_max_duration_secs: 1 }
    dead_letter: letters
`

// TestADatabaseThatCrashesUnderASinkLosesNoRowAndDoublesNone kills the server when some rows are there, and starts it
// again: every message is a row once, but for those that the table refuses, which are dead letters with what the
// database said of them.
func TestADatabaseThatCrashesUnderASinkLosesNoRowAndDoublesNone(t *testing.T) {
	const total, every = 10_000, 1000 // every 1000th is refused
	for name, shop := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop.start(t)
			q := `"`
			if name == "MariaDB" {
				q = "`"
			}
			s.must(t, "create table readings (id varchar(40) primary key, n int not null check (n >= 0), "+q+"temp.c"+q+
				" double precision, at timestamp null)")
			store := open(t)
			from := queue.Name{Namespace: queue.DefaultNamespace, Name: "readings"}
			for n := 0; n < total; n += every {
				batch := make([]message.Message, every)
				for i := range batch {
					number := n + i
					if i == 0 {
						number = -n - 1
					}
					batch[i] = message.Message{Body: fmt.Appendf(nil,
						`{"n":%d,"celsius":%d.5,"at":"2026-01-02T03:04:05Z"}`, number, i)}
				}
				if _, err := store.Put(t.Context(), from, batch); err != nil {
					t.Fatal(err)
				}
			}
			p := assemble(t, store, strings.NewReplacer("ADDRESS", s.address, "KIND", kinds[name]).Replace(sinkFile))
			ended := make(chan pipeline.Result, 1)
			go func() {
				r, err := p.Run(t.Context())
				if err != nil {
					t.Error(err)
				}
				ended <- r
			}()
			for there := "0"; there == "0"; { // until it has begun
				var err error
				if there, err = s.one(t.Context(), "select cast(count(*) as char(10)) from readings"); err != nil {
					t.Fatal(err)
				}
				there = strings.TrimSpace(there)
			}
			s.stop(t)
			s.start(t)
			r := <-ended
			if r.Delivered != total-total/every || r.DeadLettered != total/every || r.GivenBack > 0 {
				t.Errorf("delivered %d, dead %d, given back %d, retried %d", r.Delivered, r.DeadLettered, r.GivenBack,
					r.Retried)
			}
			s.holds(t, "select cast(count(*) as char(10)) from readings", fmt.Sprint(total-total/every))
			s.holds(t, "select cast(count(distinct n) as char(10)) from readings", fmt.Sprint(total-total/every))
		})
	}
}
