package mysql

import (
	"database/sql"
	"testing"
)

// TestPartsOfBytesAreBytes: they need not be characters.
func TestPartsOfBytesAreBytes(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE b (b varbinary(20), s varchar(9)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO b VALUES (x'ff00e9ab', '飛脚')")
	for _, q := range []struct{ want, statement string }{
		{"FF00", "SELECT HEX(SUBSTRING(b, 1, 2)) FROM b"}, {"E9AB", "SELECT HEX(SUBSTR(b, -2)) FROM b"},
		{"FF00", "SELECT HEX(LEFT(b, 2)) FROM b"}, {"E9AB", "SELECT HEX(RIGHT(b, 2)) FROM b"},
		{"00E9", "SELECT HEX(MID(SUBSTRING(b, 2), 1, 2)) FROM b"}, {"", "SELECT LEFT(NULLIF(b, b), 2) FROM b"},
		{"\xff", "SELECT LEFT(b, 1) FROM b"}, {"脚", "SELECT SUBSTRING(s, 2) FROM b"},
		{"飛", "SELECT LEFT(s, 1) FROM b"},
	} {
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), q.statement).Scan(&got); err != nil || got.String != q.want {
			t.Errorf("%s: %q, %v, want %q", q.statement, got.String, err, q.want)
		}
	}
}
