package mysql

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestTheTimeOfThePutIsADefault of columns that say so, on both paths and through other doors; ON UPDATE has nothing to
// do.
func TestTheTimeOfThePutIsADefault(t *testing.T) {
	for _, noShort := range []bool{false, true} {
		t.Run(fmt.Sprint("long ", noShort), func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.door.noShort = noShort
			c := r.connect("")
			exec(t, c, "CREATE TABLE at (id int, a timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE "+
				"CURRENT_TIMESTAMP, b datetime(6) DEFAULT CURRENT_TIMESTAMP(6), c datetime DEFAULT NOW()) ENGINE=QUEUE")
			exec(t, c, "INSERT INTO at (id) VALUES (1)")
			exec(t, c, "INSERT INTO at (id, a) VALUES (2, DEFAULT), (3, '2020-01-02 03:04:05')")
			exec(t, c, "INSERT INTO at (id) VALUES (?)", 4)
			one(t, c, int64(3), "SELECT COUNT(*) FROM at WHERE abs(timestampdiff(second, a, now())) < 60 AND "+
				"abs(timestampdiff(second, b, now())) < 60 AND abs(timestampdiff(second, c, now())) < 60")
			one(t, c, int64(1), "SELECT COUNT(*) FROM at WHERE a = '2020-01-02 03:04:05' AND c > '2024-01-01'")
			one(t, c, int64(4), "SELECT COUNT(*) FROM at WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL")
			var name, text string
			if err := c.QueryRowContext(t.Context(), "SHOW CREATE TABLE at").Scan(&name, &text); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"`a` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP",
				"`b` datetime(6) DEFAULT CURRENT_TIMESTAMP(6)"} {
				if !strings.Contains(text, want) {
					t.Errorf("it is shown without %q:\n%s", want, text)
				}
			}
			exec(t, c, "DROP TABLE at")
			exec(t, c, text)
			exec(t, c, "INSERT INTO at (id) VALUES (1)")
			def, _, err := r.store.Definition(t.Context(), inTest("at"))
			if err != nil {
				t.Fatal(err)
			}
			row, err := def.Columns.FromJSON([]byte(`{"id": 7}`))
			if err != nil || row[1].Kind() != message.KindTime || row[2].Kind() != message.KindTime {
				t.Errorf("another door's row is %v, %v", row, err)
			}
		})
	}
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for _, statement := range []string{"CREATE TABLE n (a int DEFAULT (1 + 1)) ENGINE=QUEUE",
		"CREATE TABLE n (a datetime DEFAULT (now() + 1)) ENGINE=QUEUE"} {
		if _, err := c.ExecContext(t.Context(), statement); errorNumber(err) != 1178 {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// TestCurrentTimesHaveTheirDigits: no clock stands at .00 for a second.
func TestCurrentTimesHaveTheirDigits(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for expression, digits := range map[string]string{"curtime(3)": "000", "current_time(2)": "00", "now(4)": "0000"} {
		for begun := time.Now(); ; {
			var text string
			if err := c.QueryRowContext(t.Context(), "SELECT concat("+expression+")").Scan(&text); err != nil {
				t.Fatal(err)
			}
			_, fraction, _ := strings.Cut(text, ".")
			if len(fraction) != len(digits) || time.Since(begun) > time.Second {
				t.Fatalf("%s is %s", expression, text)
			}
			if fraction != digits {
				break
			}
		}
	}
	_, err := c.ExecContext(t.Context(), "SELECT curtime(7)")
	failsWith(t, err, 1426, "42000", "too many digits")
}
