package flow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/hikyaku/hikyaku/flow"
)

// usersSQLite are the tables in a file of SQLite's, in this process.
type usersSQLite struct {
	dir  string
	db   *sql.DB
	one  *sql.Stmt
	said string
}

// openUsersSQLite makes a file in a folder; "" is the system's for such.
func openUsersSQLite(ctx context.Context, dir string) (userTables, error) {
	dir, err := os.MkdirTemp(dir, "hikyaku-bench-")
	if err != nil {
		return nil, err
	}
	u := &usersSQLite{dir: dir}
	if u.db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "users.db")+"?_pragma=journal_mode(WAL)"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	u.db.SetMaxOpenConns(lookUpConnections + 1)
	u.db.SetMaxIdleConns(lookUpConnections + 1)
	var version string
	if err := u.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return nil, errors.Join(fmt.Errorf("SQLite: %w", err), u.Close())
	}
	u.said = "users-sqlite: SQLite " + version + " in this process"
	return u, nil
}

func (u *usersSQLite) fill(ctx context.Context, users int) error {
	for _, statement := range []string{
		"CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL)",
		"CREATE TABLE contents (user_id integer NOT NULL, n integer NOT NULL, body text NOT NULL, PRIMARY KEY " +
			"(user_id, n)) WITHOUT ROWID",
		fmt.Sprintf("WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) INSERT INTO users "+
			"SELECT i, 'user ' || i FROM s", users),
		fmt.Sprintf("WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < %d) INSERT INTO "+
			"contents SELECT id, n, printf('%%-%ds', 'news ' || n || ' for user ' || id) FROM users, s",
			contentsEach-1, contentBytes),
		"ANALYZE",
	} {
		if _, err := u.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("SQLite: %s: %w", statement, err)
		}
	}
	var err error
	u.one, err = u.db.PrepareContext(ctx, "SELECT user_id, body FROM contents WHERE user_id = ? ORDER BY n")
	return err
}

func (u *usersSQLite) ids() flow.Stream[int] {
	return flow.Source(func(ctx context.Context, emit func(int) bool) error {
		rows, err := u.db.QueryContext(ctx, "SELECT id FROM users ORDER BY id")
		if err != nil {
			return fmt.Errorf("SQLite: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				return err
			}
			if !emit(id) {
				return nil
			}
		}
		return rows.Err()
	})
}

func (u *usersSQLite) contents(ctx context.Context, id int) ([]string, error) {
	rows, err := u.one.QueryContext(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("SQLite: %w", err)
	}
	found, err := readContents(rows, 1)
	return found[id], err
}

func (u *usersSQLite) contentsOf(ctx context.Context, ids []int) (map[int][]string, error) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(ids)), ",")
	rows, err := u.db.QueryContext(ctx, "SELECT user_id, body FROM contents WHERE user_id IN ("+marks+
		") ORDER BY user_id, n", args...)
	if err != nil {
		return nil, fmt.Errorf("SQLite: %w", err)
	}
	return readContents(rows, len(ids))
}

func (u *usersSQLite) joined(ctx context.Context) (map[int][]string, error) {
	rows, err := u.db.QueryContext(ctx, "SELECT u.id, c.body FROM users u JOIN contents c ON c.user_id = u.id ORDER "+
		"BY u.id, c.n")
	if err != nil {
		return nil, fmt.Errorf("SQLite: %w", err)
	}
	return readContents(rows, 0)
}

// readContents collects the bodies of about so many users, and closes the rows.
func readContents(rows *sql.Rows, users int) (map[int][]string, error) {
	defer rows.Close()
	found := make(map[int][]string, users)
	for rows.Next() {
		var id int
		var body string
		if err := rows.Scan(&id, &body); err != nil {
			return nil, fmt.Errorf("SQLite: %w", err)
		}
		found[id] = append(found[id], body)
	}
	return found, rows.Err()
}

func (u *usersSQLite) about() string { return u.said }

func (u *usersSQLite) Close() error {
	var err error
	if u.one != nil {
		err = u.one.Close()
	}
	return errors.Join(err, u.db.Close(), os.RemoveAll(u.dir))
}
