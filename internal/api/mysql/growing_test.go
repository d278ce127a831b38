package mysql

import (
	"database/sql"
	"testing"
)

func TestWhatAnExpressionMayNotMakeIsNullWithWarning1301(t *testing.T) {
	r := newRig(t, Config{MaxPacketBytes: 8 << 20}, nil)
	c := r.connect("")
	for _, expression := range []string{
		"repeat(repeat('x', 100000), 100000)", "space(2000000000)", "lpad('x', 2000000000, 'y')",
		"rpad('x', 2000000000, 'y')", "concat(repeat('x', 5000000), repeat('x', 5000000))",
		"replace(repeat('x', 60000), 'x', repeat('y', 60000))", "hex(repeat('x', 6000000))",
	} {
		var got sql.NullInt64
		if err := c.QueryRowContext(t.Context(), "SELECT length("+expression+")").Scan(&got); err != nil || got.Valid {
			t.Errorf("%s: %v, %v", expression, got, err)
		}
		var level, text string
		var code int
		if err := c.QueryRowContext(t.Context(), "SHOW WARNINGS").Scan(&level, &code, &text); err != nil ||
			level != "Warning" || code != 1301 {
			t.Errorf("%s: %s %d %q, %v", expression, level, code, text, err)
		}
	}
}
