package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/flow"
)

// usersPostgres are the tables in PostgreSQL. Its connections wait in a channel until somebody needs one.
type usersPostgres struct {
	idle chan *pgx.Conn
	said string
}

const (
	usersTable    = "hikyaku_bench_users"
	contentsTable = "hikyaku_bench_contents"
)

// openUsersPostgres connects to the database of a URL.
func openUsersPostgres(ctx context.Context, address string) (userTables, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("address of PostgreSQL: %w", err)
	}
	// Every statement is planned once. A plan for each list of keys takes as long as reading what it finds, and that is
	// what a server does with the first five.
	config.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	u := &usersPostgres{idle: make(chan *pgx.Conn, lookUpConnections+1)}
	for range cap(u.idle) {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("PostgreSQL: connect: %w", err), u.disconnect())
		}
		u.idle <- conn
	}
	if err := u.with(ctx, func(c *pgx.Conn) error {
		var version string
		err := c.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&version)
		u.said = "users-postgres: PostgreSQL " + version
		return err
	}); err != nil {
		return nil, errors.Join(err, u.disconnect())
	}
	return u, nil
}

// with lends do a connection.
func (u *usersPostgres) with(ctx context.Context, do func(*pgx.Conn) error) error {
	select {
	case c := <-u.idle:
		defer func() { u.idle <- c }()
		if err := do(c); err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (u *usersPostgres) fill(ctx context.Context, users int) error {
	return u.with(ctx, func(c *pgx.Conn) error {
		for _, statement := range []string{
			"DROP TABLE IF EXISTS " + contentsTable + ", " + usersTable,
			"CREATE TABLE " + usersTable + " (id integer PRIMARY KEY, name text NOT NULL)",
			"CREATE TABLE " + contentsTable + " (user_id integer NOT NULL, n integer NOT NULL, body text NOT NULL, " +
				"PRIMARY KEY (user_id, n))",
			fmt.Sprintf("INSERT INTO %s SELECT i, 'user ' || i FROM generate_series(1, %d) i", usersTable, users),
			fmt.Sprintf("INSERT INTO %s SELECT i, n, rpad('news ' || n || ' for user ' || i, %d) FROM "+
				"generate_series(1, %d) i, generate_series(0, %d) n",
				contentsTable, contentBytes, users, contentsEach-1),
			"ANALYZE " + usersTable + ", " + contentsTable,
		} {
			if _, err := c.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

func (u *usersPostgres) ids() flow.Stream[int] {
	return flow.Source(func(ctx context.Context, emit func(int) bool) error {
		return u.with(ctx, func(c *pgx.Conn) error {
			rows, err := c.Query(ctx, "SELECT id FROM "+usersTable+" ORDER BY id")
			if err != nil {
				return err
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
	})
}

func (u *usersPostgres) contents(ctx context.Context, id int) ([]string, error) {
	found, err := u.read(ctx, "SELECT user_id, n, body FROM "+contentsTable+" WHERE user_id = $1", 1, id)
	return found[id], err
}

func (u *usersPostgres) contentsOf(ctx context.Context, ids []int) (map[int][]string, error) {
	return u.read(ctx, "SELECT user_id, n, body FROM "+contentsTable+" WHERE user_id = ANY ($1)", len(ids), ids)
}

func (u *usersPostgres) joined(ctx context.Context) (map[int][]string, error) {
	return u.read(ctx, "SELECT u.id, c.n, c.body FROM "+usersTable+" u JOIN "+contentsTable+" c ON c.user_id = u.id", 0)
}

// read collects the bodies of a query of about so many users.
func (u *usersPostgres) read(ctx context.Context, query string, users int, args ...any) (map[int][]string, error) {
	found := make(map[int][]string, users)
	err := u.with(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, n int
			var body string
			if err := rows.Scan(&id, &n, &body); err != nil {
				return err
			}
			list := found[id]
			if list == nil {
				list = make([]string, contentsEach)
				found[id] = list
			}
			list[n] = body
		}
		return rows.Err()
	})
	return found, err
}

func (u *usersPostgres) about() string { return u.said }

func (u *usersPostgres) Close() error {
	ctx := context.Background() // the tables go, also when the bench was ended
	err := u.with(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "DROP TABLE IF EXISTS "+contentsTable+", "+usersTable)
		return err
	})
	return errors.Join(err, u.disconnect())
}

func (u *usersPostgres) disconnect() error {
	var errs []error
	for len(u.idle) > 0 {
		errs = append(errs, (<-u.idle).Close(context.Background()))
	}
	return errors.Join(errs...)
}
