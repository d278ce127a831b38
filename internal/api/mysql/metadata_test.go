package mysql

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
)

// TestProgramsThatShowServersAreAnswered: the statements by which they look at a server, its databases and a table.
func TestProgramsThatShowServersAreAnswered(t *testing.T) { allAnswered(t, "testdata/gui.txt") }

// TestMonitorsAreAnswered: what they ask every few seconds. Beside it they ask for what only other servers have, and
// pass over its errors, so that these have to leave the connection.
func TestMonitorsAreAnswered(t *testing.T) {
	c := allAnswered(t, "testdata/monitor.txt")
	for statement, number := range map[string]uint16{
		"SHOW ALL SLAVES STATUS":             1064,
		"SHOW SLAVE STATUS NONBLOCKING":      1064,
		"SELECT @@query_response_time_stats": 1193,
	} {
		var known *driver.MySQLError
		if _, err := c.ExecContext(t.Context(), statement); !errors.As(err, &known) || known.Number != number {
			t.Errorf("%s: %v, want error %d", statement, err, number)
		}
	}
	one(t, c, int64(1), "SELECT 1")
}

// allAnswered sends a file's statements, a line each, on the connection that it returns.
func allAnswered(t *testing.T, file string) *sql.Conn {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE t (id int NOT NULL, e enum('a','b'), payload text) ENGINE=QUEUE COMMENT='jobs'")
	for statement := range strings.Lines(string(text)) {
		if statement = strings.TrimSpace(statement); statement == "" || statement[0] == '#' {
			continue
		}
		if _, err := answered(t, c, statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	return c
}

// TestEachTableOfTheInformationSchemaCanBeRead, also those about what queues have none of.
func TestEachTableOfTheInformationSchemaCanBeRead(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE t (id int) ENGINE=QUEUE")
	rows, err := c.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = "+
		"'information_schema'")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if rows.Close(); len(names) < 50 {
		t.Fatalf("only %q", names)
	}
	for _, name := range names {
		if _, err := answered(t, c, "SELECT * FROM information_schema."+name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	// mysqldump of MySQL 8 asks so for each table.
	n, err := answered(t, c,
		`SELECT COLUMN_NAME, JSON_EXTRACT(HISTOGRAM, '$."number-of-buckets-specified"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'test' AND TABLE_NAME = 't'`)
	if n != 0 || err != nil {
		t.Errorf("%d histograms, %v", n, err)
	}
}

// answered is how many rows a statement answers with.
func answered(t *testing.T, c *sql.Conn, statement string) (n int, err error) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), statement)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}
