//go:build linux

package mysql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// told sends bodies to a started sink, once.
func told(t *testing.T, s component.Sink, bodies ...string) []component.Outcome {
	t.Helper()
	batch := make([]*message.Message, len(bodies))
	for i, b := range bodies {
		batch[i] = &message.Message{ID: message.NewID(), Body: []byte(b)}
	}
	outcomes, err := s.Send(t.Context(), batch)
	must(t, err)
	return outcomes
}

func finding(t *testing.T, url string, c rows.Config) component.Sink {
	t.Helper()
	s, err := New(Config{Database: url, Config: c}, component.Env{Name: "sink"})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.(component.Starter).Start(t.Context()))
	return s
}

func TestAnUpdateThatIsRefusedAmongManyOfOneStatementIsTheOnlyOne(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (k int PRIMARY KEY, u int UNIQUE, v varchar(5))",
		"INSERT INTO t SELECT seq, seq, '' FROM seq_1_to_300")
	s := finding(t, url, rows.Config{Table: []string{"t"}, Mode: "update"})
	var bodies []string
	for k := 1; k <= 200; k++ {
		u := k
		if k%70 == 0 {
			u = 300 // which another row has
		}
		bodies = append(bodies, fmt.Sprintf(`{"k":%d,"u":%d,"v":"x"}`, k, u))
	}
	for i, o := range told(t, s, bodies...) {
		if want := (i+1)%70 == 0; (o.Verdict == component.Rejected) != want {
			t.Errorf("%s: %v, because %v", bodies[i], o.Verdict, o.Reason)
		} else if want && !strings.Contains(o.Reason.Error(), "Duplicate") {
			t.Error(o.Reason)
		}
	}
	if got := ask(t, url, "SELECT count(*), sum(u=k) FROM t WHERE v = 'x'"); got != "198|198" {
		t.Error(got)
	}
}

func TestKeysThatTheServerTakesForOneAreOneRow(t *testing.T) {
	url := database(t)
	tell(t, url, "CREATE TABLE t (k varchar(9) COLLATE utf8mb4_general_ci PRIMARY KEY, v int, w int)",
		"INSERT INTO t VALUES ('ab', 0, 5), ('c', 0, 5)")
	s := finding(t, url, rows.Config{Table: []string{"t"}, Mode: "update", NoSuchRow: "reject"})
	for i, o := range told(t, s, `{"k":"AB","v":1}`, `{"k":"ab","v":2}`, `{"k":"Ab","v":3}`, `{"k":"C","v":3}`) {
		if o.Verdict != component.Delivered {
			t.Errorf("%d: %v, because %v", i, o.Verdict, o.Reason)
		}
	}
	if got := ask(t, url, "SELECT * FROM t ORDER BY k"); got != "ab|3|5\nc|3|5" {
		t.Error(got)
	}
}

func TestLongDecimalsThatDifferInTheLastDigitAreDifferentKeys(t *testing.T) {
	const long = "1234567890123456789012345678901234567"
	url := database(t)
	for mode, want := range map[string]string{"update": "1|0\n2|7\n3|0\n4|8", "delete": "1|0\n3|0"} {
		tell(t, url, "CREATE OR REPLACE TABLE t (id int, k decimal(38,0) PRIMARY KEY, v int)",
			"INSERT INTO t VALUES (1, "+long+"1, 0), (2, "+long+"2, 0), (3, "+long+"3, 0), (4, "+long+"4, 0)")
		s := finding(t, url, rows.Config{Table: []string{"t"}, Mode: mode, Unknown: "drop", Key: []string{"k"}})
		for _, o := range told(t, s, `{"k":`+long+`2,"v":7}`, `{"k":`+long+`4,"v":8}`) {
			if o.Verdict != component.Delivered {
				t.Errorf("%v, because %v", o.Verdict, o.Reason)
			}
		}
		if got := ask(t, url, "SELECT id, v FROM t ORDER BY id"); got != want {
			t.Errorf("%s: %s", mode, got)
		}
	}
}
