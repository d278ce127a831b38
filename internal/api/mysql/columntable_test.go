package mysql

import (
	"database/sql"
	"slices"
	"testing"
)

// TestColumnsAreShownWithWhatTheUserMayDo: Adminer selects and inserts what the privileges name.
func TestColumnsAreShownWithWhatTheUserMayDo(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	exec(t, r.as("boss"), "CREATE TABLE jobs (v int) ENGINE=QUEUE")
	for _, q := range []struct{ user, want string }{
		{"boss", "select,insert,update,references"}, {"putter", "insert"}, {"taker", "select"},
	} {
		c := r.as(q.user)
		one(t, c, q.want, "SELECT privileges FROM information_schema.columns WHERE table_name = 'jobs'")
		for _, statement := range []string{"SHOW FULL COLUMNS FROM jobs", "SHOW FULL FIELDS FROM `jobs` FROM test",
			"SHOW FULL COLUMNS IN jobs IN test"} {
			if got := columnNamed(t, c, statement, "Privileges"); got != q.want {
				t.Errorf("%s: %s: %q, want %q", q.user, statement, got, q.want)
			}
		}
	}
	const others = "SHOW FULL COLUMNS FROM information_schema.tables"
	if got := columnNamed(t, r.as("boss"), others, "Privileges"); got != "select" {
		t.Errorf("%s: %q", others, got)
	}
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE anyones (v int) ENGINE=QUEUE")
	one(t, c, "select,insert,update,references",
		"SELECT privileges FROM information_schema.columns WHERE table_name = 'anyones'")
}

// columnNamed is a column of an answer's first row.
func columnNamed(t *testing.T, c *sql.Conn, statement, name string) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(statement, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		t.Fatal(statement, err, rows.Err())
	}
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		t.Fatal(statement, err)
	}
	return values[slices.Index(names, name)].String
}

// TestTheInformationSchemaTellsDigitsOfASecond, which a date has none of.
func TestTheInformationSchemaTellsDigitsOfASecond(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE f (a time, b time(3), c date, d datetime, e timestamp(2), v int) ENGINE=QUEUE")
	for name, want := range map[string]string{"a": "time/0", "b": "time(3)/3", "c": "date/-", "d": "datetime/0",
		"e": "timestamp(2)/2", "v": "int/-"} {
		one(t, c, want, "SELECT concat(column_type, '/', ifnull(datetime_precision, '-')) FROM "+
			"information_schema.columns WHERE table_name = 'f' AND column_name = '"+name+"'")
	}
}
