package q4m

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The cases of servers to compare with.
const (
	caseMariaDB  = "mariadb"
	casePostgres = "postgres"
)

// innoShop is MariaDB or MySQL with a table of InnoDB, the workers of which lock the rows that they take and skip
// locked ones.
type innoShop struct {
	to      *mysql.Config
	desk    line
	said    string
	payload string
}

const createInno = "CREATE TABLE " + tableName + " (seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, id " +
	"VARCHAR(255) NOT NULL, payload TEXT NOT NULL, " +
	"enqueued_at INT UNSIGNED NOT NULL, KEY (enqueued_at)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

const innoInto = tableName + " (id, payload, enqueued_at)"

// openInnoShop makes the table in the database of a DSN, as go-sql-driver writes them.
func openInnoShop(ctx context.Context, dsn string) (*innoShop, error) {
	to, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("the address of MariaDB: %w", err)
	}
	if to.DBName == "" {
		return nil, errors.New("the address of MariaDB names no database: user:password@tcp(host:port)/database")
	}
	s := &innoShop{to: to, payload: string(harness.MakeBody(harness.BodyBytes))}
	if s.desk, err = openLight(context.WithoutCancel(ctx), to); err != nil { // the table is dropped in any case
		return nil, fmt.Errorf("MariaDB: %w", err)
	}
	if err := s.checkDurable(); err != nil {
		return nil, errors.Join(err, s.desk.Close())
	}
	if err := s.tell("DROP TABLE IF EXISTS "+tableName, createInno); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkDurable reads the settings that a comparison depends on, and refuses a server that acknowledges what is not on
// the disk.
func (s *innoShop) checkDurable() error {
	var said []string
	for _, name := range []string{"version", "innodb_flush_log_at_trx_commit", "innodb_flush_method",
		"innodb_doublewrite", "log_bin", "sync_binlog", "innodb_buffer_pool_size"} {
		value, _, err := s.desk.ask("SELECT @@global." + name)
		if err != nil {
			return fmt.Errorf("MariaDB: read %s: %w", name, err)
		}
		if name == "innodb_flush_log_at_trx_commit" && value != "1" {
			return fmt.Errorf("MariaDB: innodb_flush_log_at_trx_commit is %s: what it acknowledges may be lost, and "+
				"there is nothing to compare (SET GLOBAL innodb_flush_log_at_trx_commit = 1)", value)
		}
		said = append(said, name+" "+value)
	}
	s.said = caseMariaDB + ": " + strings.Join(said, ", ") + ", read committed"
	return nil
}

func (s *innoShop) tell(statements ...string) error { return tell(s.desk, statements...) }

func tell(l line, statements ...string) error {
	for _, statement := range statements {
		if _, _, err := l.ask(statement); err != nil {
			return fmt.Errorf("MariaDB: %s: %w", statement, err)
		}
	}
	return nil
}

func (s *innoShop) client(light bool) string { return clientName(light) }

func (s *innoShop) connect(ctx context.Context, light bool) (hand, error) {
	l, err := openLine(ctx, s.to, light)
	if err != nil {
		return nil, err
	}
	// With REPEATABLE READ a search would also lock the rows that it only looks at.
	if err := tell(l, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET autocommit = 1"); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := l.prepare("INSERT INTO " + innoInto + " VALUES (?, ?, ?)"); err != nil {
		return nil, errors.Join(fmt.Errorf("MariaDB: prepare an insert: %w", err), l.Close())
	}
	return &innoHand{l, s.payload}, nil
}

func (s *innoShop) reset(ctx context.Context, before, since int) error {
	if err := s.tell("TRUNCATE TABLE " + tableName); err != nil {
		return err
	}
	if err := errors.Join(s.add(ctx, before, atBefore), s.add(ctx, since, atSince)); err != nil {
		return err
	}
	_, _, err := s.desk.ask("ANALYZE TABLE " + tableName) // so that it knows how many there are of each
	return err
}

func (s *innoShop) add(ctx context.Context, n int, at int64) error {
	return addMany(ctx, s.desk, innoInto, n, at, s.payload)
}

func (s *innoShop) count(context.Context) (n int64, err error) {
	text, _, err := s.desk.ask("SELECT COUNT(*) FROM " + tableName)
	if err == nil {
		_, err = fmt.Sscan(text, &n)
	}
	return n, err
}

func (s *innoShop) keeping() *harness.Kept { return nil }

func (s *innoShop) about() string { return s.said }

func (s *innoShop) Close() error {
	return errors.Join(s.tell("DROP TABLE IF EXISTS "+tableName), s.desk.Close())
}

// innoHand takes rows as a table's workers do.
type innoHand struct {
	line
	payload string
}

// attempts is how often a worker looks for a row before it is said that there is none: others may have locked all that
// it sees.
const attempts = 10_000

// InnoDB's errors that say: once more.
const (
	innoTimeout  = 1205
	innoDeadlock = 1213
)

func (h *innoHand) take(k kind) error {
	for range attempts {
		done, err := h.takeOnce(k)
		var failed *mysql.MySQLError
		if errors.As(err, &failed) && (failed.Number == innoDeadlock || failed.Number == innoTimeout) {
			err = tell(h.line, "ROLLBACK")
		}
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("MariaDB: nothing was found in %d attempts, though there are rows", attempts)
}

func (h *innoHand) takeOnce(k kind) (done bool, err error) {
	if err := tell(h.line, "BEGIN"); err != nil {
		return false, err
	}
	statement := fmt.Sprintf("SELECT seq FROM %s WHERE enqueued_at %s %d ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED",
		tableName, k, moment)
	seq, found, err := h.ask(statement)
	if err != nil {
		return false, fmt.Errorf("MariaDB: %s: %w", statement, err)
	}
	if !found {
		return false, tell(h.line, "COMMIT")
	}
	return true, tell(h.line, "DELETE FROM "+tableName+" WHERE seq = "+seq, "COMMIT")
}

func (h *innoHand) insert(id string, at int64) error {
	if err := h.execute(id, h.payload, at); err != nil {
		return fmt.Errorf("MariaDB: insert: %w", err)
	}
	return nil
}
