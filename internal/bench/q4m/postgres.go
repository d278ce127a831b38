package q4m

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// postgresShop is PostgreSQL, the workers of which delete the row that they take in one statement.
type postgresShop struct {
	address string
	desk    *pgx.Conn
	ctx     context.Context // of desk
	said    string
	payload string
}

const createPostgres = "CREATE TABLE " + tableName + " (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " +
	"varchar(255) NOT NULL, payload text NOT NULL, " +
	"enqueued_at bigint NOT NULL)"

// openPostgresShop makes the table in the database of a URL.
func openPostgresShop(ctx context.Context, address string) (*postgresShop, error) {
	desk, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: connect: %w", err)
	}
	s := &postgresShop{address: address, desk: desk, ctx: ctx, payload: string(harness.MakeBody(harness.BodyBytes))}
	if err := s.checkDurable(ctx); err != nil {
		return nil, errors.Join(err, desk.Close(context.WithoutCancel(ctx)))
	}
	if err := s.tell(ctx, "DROP TABLE IF EXISTS "+tableName, createPostgres,
		"CREATE INDEX ON "+tableName+" (enqueued_at)"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkDurable reads the settings that a comparison depends on, and refuses a server that acknowledges what is not on
// the disk.
func (s *postgresShop) checkDurable(ctx context.Context) error {
	var said []string
	for _, name := range []string{"server_version", "fsync", "synchronous_commit", "wal_sync_method",
		"full_page_writes", "shared_buffers"} {
		var value string
		if err := s.desk.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return fmt.Errorf("PostgreSQL: read %s: %w", name, err)
		}
		if (name == "fsync" || name == "synchronous_commit") && value != "on" {
			return fmt.Errorf("PostgreSQL: %s is %s: what it acknowledges may be lost, and there is nothing to "+
				"compare (ALTER SYSTEM SET %s = on)", name, value, name)
		}
		said = append(said, name+" "+value)
	}
	s.said = casePostgres + ": " + strings.Join(said, ", ")
	return nil
}

func (s *postgresShop) tell(ctx context.Context, statements ...string) error {
	ctx, err := outlasting(ctx)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := s.desk.Exec(ctx, statement); err != nil {
			return fmt.Errorf("PostgreSQL: %s: %w", statement, err)
		}
	}
	return nil
}

func (s *postgresShop) client(bool) string { return clientPGX }

func (s *postgresShop) connect(ctx context.Context, _ bool) (hand, error) {
	conn, err := pgx.Connect(ctx, s.address)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: connect: %w", err)
	}
	return &postgresHand{ctx, conn, s.payload}, nil
}

func (s *postgresShop) reset(ctx context.Context, before, since int) error {
	if err := s.tell(ctx, "TRUNCATE TABLE "+tableName); err != nil {
		return err
	}
	if err := errors.Join(s.add(ctx, before, atBefore), s.add(ctx, since, atSince)); err != nil {
		return err
	}
	return s.tell(ctx, "VACUUM ANALYZE "+tableName)
}

func (s *postgresShop) add(ctx context.Context, n int, at int64) error {
	ctx, err := outlasting(ctx)
	if err != nil {
		return err
	}
	next := 0
	rows := pgx.CopyFromFunc(func() ([]any, error) {
		if next++; next > n {
			return nil, nil
		}
		return []any{"row-" + strconv.Itoa(next), s.payload, at}, nil
	})
	if _, err := s.desk.CopyFrom(ctx, pgx.Identifier{tableName}, []string{"id", "payload", "enqueued_at"},
		rows); err != nil {
		return fmt.Errorf("PostgreSQL: fill the table: %w", err)
	}
	return nil
}

func (s *postgresShop) count(ctx context.Context) (n int64, err error) {
	err = s.desk.QueryRow(ctx, "SELECT count(*) FROM "+tableName).Scan(&n)
	return n, err
}

func (s *postgresShop) keeping() *harness.Kept { return nil }

func (s *postgresShop) about() string { return s.said }

func (s *postgresShop) Close() error {
	ctx := context.WithoutCancel(s.ctx)
	return errors.Join(s.tell(ctx, "DROP TABLE IF EXISTS "+tableName), s.desk.Close(ctx))
}

// postgresHand takes rows as a table's workers do. Its statements are prepared once, by pgx.
type postgresHand struct {
	ctx     context.Context
	conn    *pgx.Conn
	payload string
}

// calls is the context of a call, as driverLine.calls.
func (h *postgresHand) calls() (context.Context, error) { return outlasting(h.ctx) }

// outlasting is a context for what is begun only before ctx ends, and then done: a connection on which a statement was
// cancelled is of no use any more.
func outlasting(ctx context.Context) (context.Context, error) {
	return context.WithoutCancel(ctx), context.Cause(ctx)
}

var takePostgres = map[kind]string{since: deletePostgres(since), before: deletePostgres(before)}

func deletePostgres(k kind) string {
	return fmt.Sprintf("DELETE FROM %[1]s WHERE seq = (SELECT seq FROM %[1]s WHERE enqueued_at %[2]s %[3]d ORDER BY "+
		"seq LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
		tableName, k, moment)
}

func (h *postgresHand) take(k kind) error {
	for range attempts {
		ctx, err := h.calls()
		if err != nil {
			return err
		}
		var id string
		err = h.conn.QueryRow(ctx, takePostgres[k]).Scan(&id)
		if err == nil {
			return nil
		}
		if !errors.Is(err, pgx.ErrNoRows) { // of others all that it saw
			return fmt.Errorf("PostgreSQL: take a row: %w", err)
		}
	}
	return fmt.Errorf("PostgreSQL: nothing was found in %d attempts, though there are rows", attempts)
}

func (h *postgresHand) insert(id string, at int64) error {
	ctx, err := h.calls()
	if err != nil {
		return err
	}
	if _, err := h.conn.Exec(ctx, "INSERT INTO "+tableName+" (id, payload, enqueued_at) VALUES ($1, $2, $3)", id,
		h.payload, at); err != nil {
		return fmt.Errorf("PostgreSQL: insert: %w", err)
	}
	return nil
}

func (h *postgresHand) ping() error {
	ctx, err := h.calls()
	if err != nil {
		return err
	}
	return h.conn.Ping(ctx)
}

func (h *postgresHand) Close() error { return h.conn.Close(context.WithoutCancel(h.ctx)) }
