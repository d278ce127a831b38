package mysql

import "testing"

// TestDatesAreTextsAndNumbersWithoutAClock: to go-mysql-server they are dates with a time there, or nothing.
func TestDatesAreTextsAndNumbersWithoutAClock(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE f (e datetime, g datetime(3), i date, c time) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO f VALUES ('2026-01-02 03:04:05', '2026-01-02 03:04:05.250', '2026-01-02', '01:02:03')")
	for _, q := range []struct{ expression, want string }{
		{"concat(i, '/', e, '/', g, '/', c)", "2026-01-02/2026-01-02 03:04:05/2026-01-02 03:04:05.250/01:02:03"},
		{"length(i)", "10"}, {"left(i, 4)", "2026"}, {"substring(g, 18)", "05.250"}, {"cast(i as char)", "2026-01-02"},
		{"cast(e as char(10))", "2026-01-02"}, {"i LIKE '2026-01-02'", "1"}, {"i + 0", "20260102"},
		{"i DIV 100", "202601"}, {"i % 100", "2"}, {"i + INTERVAL 1 DAY", "2026-01-03"},
		{"ifnull(i, 'none')", "2026-01-02"}, {"if(1, i, 'none')", "2026-01-02"}, {"lower(i)", "2026-01-02"},
		{"hex(i)", "323032362D30312D3032"}, {"trim(i)", "2026-01-02"}, {"substring_index(i, '-', 1)", "2026"},
		{"coalesce(NULL, i, 'none')", "2026-01-02"}, {"md5(i) = md5('2026-01-02')", "1"}, {"ifnull(i, e) = i", "1"},
	} {
		one(t, c, q.want, "SELECT "+q.expression+" FROM f")
	}
}
