package mysql

import (
	"database/sql"
	"testing"
)

// TestFunctionsOfTextsTakeWhatIsNone: NULL is NULL, and numbers are texts. Some ended the connection.
func TestFunctionsOfTextsTakeWhatIsNone(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.connect("")
	for _, q := range []struct{ want, statement string }{
		{"2024-01-02", "SELECT STR_TO_DATE('02.01.2024', '%d.%m.%Y')"},
		{"2024-01-02", "SELECT STR_TO_DATE(20240102, '%Y%m%d')"},
		{"", "SELECT STR_TO_DATE(NULL, '%Y')"},
		{"", "SELECT STR_TO_DATE('2024', NULL)"},
		{"", "SELECT STR_TO_DATE(NULLIF(v, 1), '%Y') FROM jobs"},
		{"", "SELECT INET6_ATON(1)"},
		{"7F000001", "SELECT HEX(INET6_ATON('127.0.0.1'))"},
		{"", "SELECT INET6_ATON(NULL)"},
		{"0", "SELECT LOCATE('a', 'abc', 0)"},
		{"0", "SELECT LOCATE('a', 'abc', -1)"},
		{"4", "SELECT LOCATE('a', 'abca', 2)"},
		{"2", "SELECT LOCATE(2, 123)"},
		{"", "SELECT LOCATE('a', NULL)"},
	} {
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), q.statement).Scan(&got); err != nil || got.String != q.want {
			t.Errorf("%s: %q, %v, want %q", q.statement, got.String, err, q.want)
		}
	}
}
