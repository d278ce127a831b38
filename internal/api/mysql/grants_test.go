package mysql

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
)

// as opens a connection of a user whose password is the name and "-secret".
func (r *rig) as(user string) *sql.Conn {
	r.t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s-secret@tcp(%s)/test", user, user, r.addr))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { db.Close() })
	c, err := db.Conn(r.t.Context())
	if err != nil {
		r.t.Fatal(user, err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

func users(t *testing.T) *access.Users {
	t.Helper()
	grant := func(can access.Action, on ...string) access.Grant {
		return access.Grant{Can: []string{string(can)}, On: on}
	}
	us, err := access.New([]access.User{
		{Name: "boss", Secret: "boss-secret",
			Grants: []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}},
		{Name: "putter", Secret: "putter-secret", Grants: []access.Grant{grant(access.Put, "default/jobs")}},
		{Name: "taker", Secret: "taker-secret", Grants: []access.Grant{grant(access.Take, "default/jobs*")}},
		{Name: "nobody", Secret: "nobody-secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return us
}

// TestUsersDoWhatTheyAreGranted sends statements of several users, on both paths. What is not visible does not exist.
func TestUsersDoWhatTheyAreGranted(t *testing.T) {
	for _, noShort := range []bool{false, true} {
		t.Run(fmt.Sprint("long ", noShort), func(t *testing.T) {
			r := newRig(t, Config{}, users(t))
			r.door.noShort = noShort
			conns := map[string]*sql.Conn{}
			for _, step := range []struct{ user, statement, want string }{
				{"boss", "CREATE TABLE jobs (v int) ENGINE=QUEUE", ""},
				{"boss", "CREATE TABLE other (v int) ENGINE=QUEUE", ""},
				{"boss", "INSERT INTO jobs VALUES (1)", ""},
				{"boss", "INSERT INTO other VALUES (1)", ""},
				{"putter", "INSERT INTO jobs VALUES (2)", ""},
				{"putter", "SELECT * FROM jobs", `1142 SELECT needs "take"`},
				{"putter", "EXPLAIN SELECT * FROM jobs", `1142 SELECT needs "take"`},
				{"putter", "EXPLAIN SELECT * FROM other", "1146"},
				{"putter", "SELECT queue_wait('jobs', 0)", `1142 SELECT needs "take"`},
				{"putter", "DELETE FROM jobs", `1142 DELETE needs "take"`},
				{"putter", "DELETE FROM jobs WHERE v = 1", `1142 needs "take"`},
				{"putter", "TRUNCATE TABLE jobs", `1142 DROP needs "admin"`},
				{"putter", "DROP TABLE jobs", `1142 DROP needs "admin"`},
				{"putter", "ALTER TABLE jobs ADD COLUMN w int", `1142 ALTER needs "admin"`},
				{"putter", "RENAME TABLE jobs TO jobs2", `1142 ALTER needs "admin"`},
				{"putter", "CREATE TABLE mine (v int)", `1142 CREATE needs "admin"`},
				{"putter", "SELECT queue_stats('jobs')", `1142 needs "take"`},
				{"putter", "INSERT INTO other VALUES (2)", "1146"},
				{"putter", "SELECT * FROM other", "1146"},
				{"putter", "DROP TABLE other", "1051"},
				{"putter", "RENAME TABLE other TO another", "1146"},
				{"putter", "SHOW CREATE TABLE other", "1146"},
				{"putter", "DESCRIBE other", "1146"},
				{"putter", "CREATE DATABASE shop", `1142 needs "admin"`},
				{"taker", "INSERT INTO jobs VALUES (3)", `1142 INSERT needs "put"`},
				{"taker", "SELECT queue_wait('jobs', 0)", ""},
				{"taker", "SELECT * FROM jobs", ""},
				{"taker", "SELECT queue_end()", ""},
				{"taker", "DELETE FROM jobs WHERE v = 2", ""},
				{"taker", "SELECT * FROM other", "1146"},
				{"nobody", "SELECT 1", ""},
				{"nobody", "INSERT INTO jobs VALUES (1)", "1146"},
				{"nobody", "SELECT * FROM jobs", "1146"},
			} {
				c := conns[step.user]
				if c == nil {
					c = r.as(step.user)
					conns[step.user] = c
				}
				_, err := c.ExecContext(t.Context(), step.statement)
				var refused *driver.MySQLError
				switch {
				case step.want == "" && err != nil:
					t.Errorf("%s: %s: %v", step.user, step.statement, err)
				case step.want == "":
				case !errors.As(err, &refused):
					t.Errorf("%s: %s: %v, want %s", step.user, step.statement, err, step.want)
				default:
					text := fmt.Sprintf("%d %s", refused.Number, refused.Message)
					for _, word := range strings.Fields(step.want) {
						if !strings.Contains(text, word) {
							t.Errorf("%s: %s: %s, want %s", step.user, step.statement, text, step.want)
						}
					}
				}
			}
		})
	}
}

func TestAUserSeesOnlyWhatIsGranted(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	boss, nobody, putter := r.as("boss"), r.as("nobody"), r.as("putter")
	exec(t, boss, "CREATE TABLE jobs (v int)")
	exec(t, boss, "CREATE TABLE secret.plans (v int)")
	const tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', " +
		"'performance_schema', 'mysql', 'sys')"
	one(t, boss, int64(2), tables)
	one(t, putter, int64(1), tables)
	one(t, nobody, int64(0), tables)
	one(t, boss, int64(1), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'secret'")
	one(t, nobody, int64(0), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'secret'")
	var got sql.NullInt64
	if err := nobody.QueryRowContext(t.Context(), "SELECT queue_wait('jobs', 0)").Scan(&got); err != nil || got.Valid {
		t.Errorf("a wait for what is not visible: %v, %v", got, err)
	}
	var warning string
	var level, code string
	if err := nobody.QueryRowContext(t.Context(), "SHOW WARNINGS").Scan(&level, &code, &warning); err != nil ||
		!strings.Contains(warning, "does not exist") {
		t.Errorf("the warning is %q, %v", warning, err)
	}
	one(t, nobody, "nobody@127.0.0.1", "SELECT USER()")
}

func TestUsersEndOnlyTheirOwnConnections(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	boss, putter, another := r.as("boss"), r.as("putter"), r.as("putter")
	id := func(c *sql.Conn) (id int) {
		t.Helper()
		if err := c.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	var refused *driver.MySQLError
	if _, err := putter.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id(boss))); !errors.As(err, &refused) ||
		refused.Number != 1095 {
		t.Errorf("another's connection: %v", err)
	}
	const others = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'boss'"
	one(t, putter, int64(0), others)
	one(t, boss, int64(1), others)
	rows, err := putter.QueryContext(t.Context(), "SHOW FULL PROCESSLIST")
	if err != nil {
		t.Fatal(err)
	}
	if text := rowsText(rows); strings.Contains(text, "boss") || strings.Count(text, "putter") != 2 {
		t.Errorf("the connections are shown as\n%s", text)
	}
	rows.Close()
	exec(t, putter, fmt.Sprintf("KILL %d", id(another)))
	exec(t, boss, fmt.Sprintf("KILL %d", id(putter)))
}

func TestAWrongPasswordStaysOutside(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	for _, dsn := range []string{"boss:wrong@", "boss@", "stranger:boss-secret@", "@"} {
		db, err := sql.Open("mysql", fmt.Sprintf("%stcp(%s)/test", dsn, r.addr))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var refused *driver.MySQLError
		if err := db.PingContext(t.Context()); !errors.As(err, &refused) || refused.Number != 1045 {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// TestAGrantThatIsTakenAwayEndsAWait: the row that comes then goes to nobody, and stays.
func TestAGrantThatIsTakenAwayEndsAWait(t *testing.T) {
	us := users(t)
	r := newRig(t, Config{}, us)
	boss, taker := r.as("boss"), r.as("taker")
	exec := func(statement string) {
		t.Helper()
		if _, err := boss.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE jobs (v int) ENGINE=QUEUE")
	waited := make(chan error, 1)
	go func() {
		var n int
		waited <- taker.QueryRowContext(t.Context(), "SELECT queue_wait('jobs', 60)").Scan(&n)
	}()
	r.until("it waits", func() bool { return r.stats().Waiters == 1 })
	if err := us.Replace([]access.User{
		{Name: "boss", Secret: "boss-secret", Grants: []access.Grant{{Can: []string{"put"}, On: []string{"*"}}}},
		{Name: "taker", Secret: "taker-secret", Grants: []access.Grant{{Can: []string{"put"}, On: []string{"*"}}}},
	}); err != nil {
		t.Fatal(err)
	}
	exec("INSERT INTO jobs VALUES (1)")
	var refused *driver.MySQLError
	if err := <-waited; !errors.As(err, &refused) || refused.Number != 1142 {
		t.Errorf("the wait is answered %v", err)
	}
	if st := r.stats(); st.Ready != 1 {
		t.Errorf("%+v", st)
	}
}
