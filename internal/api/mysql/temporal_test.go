package mysql

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestTimesAndDatesAreReadInMySQLsForms, as literals and as parameters; what is none is refused.
func TestTimesAndDatesAreReadInMySQLsForms(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.door.noShort = way.noShort
			c := r.connect(strings.ReplaceAll(way.args, "parseTime=true", ""))
			exec(t, c, "CREATE TABLE f (a time, b date, c datetime(3)) ENGINE=QUEUE")
			for _, f := range []struct{ a, b, c, want string }{
				{"0 23:59:59", "2024-1-2", "2024-1-2 3:4:5", "23:59:59 2024-01-02 2024-01-02 03:04:05.000"},
				{"1 01:00", "20240102", "20240102030405", "25:00:00 2024-01-02 2024-01-02 03:04:05.000"},
				{"-2 10", "24-01-02", "2024/01/02 03.04.05.25", "-58:00:00 2024-01-02 2024-01-02 03:04:05.250"},
				{"12:30:00", "99.12.31", "240102", "12:30:00 1999-12-31 2024-01-02 00:00:00.000"},
			} {
				exec(t, c, "INSERT INTO f VALUES (?, ?, ?)", f.a, f.b, f.c)
				got := make([]string, 3)
				if err := c.QueryRowContext(t.Context(), "SELECT * FROM f").Scan(&got[0], &got[1],
					&got[2]); err != nil || strings.Join(got, " ") != f.want {
					t.Errorf("%+v: %q, %v", f, got, err)
				}
				exec(t, c, "DELETE FROM f")
			}
			var got [3]string // literals beside a parameter
			exec(t, c, "INSERT INTO f VALUES ('0 23:59:59', ?, '240102')", "2024-01-02")
			if err := c.QueryRowContext(t.Context(), "SELECT * FROM f").Scan(&got[0], &got[1], &got[2]); err != nil ||
				got != [3]string{"23:59:59", "2024-01-02", "2024-01-02 00:00:00.000"} {
				t.Errorf("literals beside a parameter: %q, %v", got, err)
			}
			for _, wrong := range []string{"x", "2 x", "25:61:00"} {
				if _, err := c.ExecContext(t.Context(), "INSERT INTO f (a) VALUES (?)", wrong); err == nil {
					t.Errorf("%q is a time", wrong)
				}
			}
			long := "20240102" + strings.Repeat(" ", longestDate)
			if _, err := c.ExecContext(t.Context(), "INSERT INTO f (b) VALUES (?)", long); err == nil {
				t.Error("a long text is looked through for a date")
			}
			if _, err := c.ExecContext(t.Context(), "INSERT INTO f (b) VALUES (?)", "20241302"); err == nil {
				t.Error("there is a thirteenth month")
			}
		})
	}
}

// FuzzCanonical: what is written otherwise is written once and for all.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"0 23:59:59", "-3 4", "20240102030405.123", "24-1-2 3:4", "99.12.31"} {
		f.Add(s, 0)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		typ := []message.ColumnType{message.TypeTime, message.TypeDate, message.TypeDateTime,
			message.TypeTimestamp}[uint(n)%4]
		text, ok := canonical(typ, s)
		if !ok {
			return
		}
		if again, ok := canonical(typ, text); ok && again != text {
			t.Errorf("%q is %q, and then %q", s, text, again)
		}
	})
}
