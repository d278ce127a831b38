package sink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/sqldriver"
)

// The databases of the sink bench, as Options.To names them.
const (
	toTsurugi  = "tsurugi"
	toPostgres = "postgres"
	toMySQL    = "mysql"
	toSQLite   = "sqlite"
)

// sinkDesk is one connection to a database, over which a client says SQL in text. One goroutine uses it at a time.
type sinkDesk interface {
	exec(ctx context.Context, text string) error
	// transact says texts in one transaction, each when the one before is answered.
	transact(ctx context.Context, texts []string) error
	// read hands over the first column of each row.
	read(ctx context.Context, query string, each func(v any) error) error
	Close() error
}

// openDesk connects to a database at an address: a path for SQLite, an endpoint for TsurugiDB, a URL, a DSN.
func openDesk(ctx context.Context, to, address string) (sinkDesk, error) {
	var db *sql.DB
	switch to {
	case toPostgres:
		return openPostgresDesk(ctx, address)
	case toMySQL:
		config, err := mysql.ParseDSN(address)
		if err != nil {
			return nil, fmt.Errorf("the address of MySQL: %w", err)
		}
		if config.DBName == "" {
			return nil, errors.New("the address of MySQL names no database: user:password@tcp(host:port)/database")
		}
		connector, err := mysql.NewConnector(config)
		if err != nil {
			return nil, fmt.Errorf("the address of MySQL: %w", err)
		}
		db = sql.OpenDB(connector)
	case toTsurugi:
		endpoint, who := tsurugiAt(address)
		password, _ := who.Password()
		connector, err := sqldriver.NewConnector(endpoint,
			tsurugi.Config{Credential: tsurugi.UserPassword(who.Username(), password)})
		if err != nil {
			return nil, fmt.Errorf("the address of TsurugiDB: %w", err)
		}
		db = sql.OpenDB(connector)
	case toSQLite:
		// As durable as the others: a commit waits for the disk.
		db = sql.OpenDB(sqliteConnector{"file:" + address +
			"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(60000)"})
	default:
		return nil, fmt.Errorf("there is no sink %q: choose from %s", to, strings.Join(sinkTargets(), ", "))
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: connect: %w", to, err), db.Close())
	}
	return &sqlDesk{db}, nil
}

// tsurugiAt divides the address of TsurugiDB, tcp://user:password@host:port, into an endpoint and whom it tells;
// nobody, where the server asks for nobody.
func tsurugiAt(address string) (endpoint string, who *url.Userinfo) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address, nil
	}
	who, u.User = u.User, nil
	return u.String(), who
}

// sinkTargets lists the databases.
func sinkTargets() []string { return []string{toTsurugi, toPostgres, toMySQL, toSQLite} }

// sqlDesk is one over database/sql, which is not given arguments: then the drivers send the text.
type sqlDesk struct{ db *sql.DB }

func (d *sqlDesk) exec(ctx context.Context, text string) error {
	_, err := d.db.ExecContext(ctx, text)
	return err
}

func (d *sqlDesk) transact(ctx context.Context, texts []string) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (d *sqlDesk) read(ctx context.Context, query string, each func(v any) error) error {
	rows, err := d.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return err
		}
		if err := each(v); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *sqlDesk) Close() error { return d.db.Close() }

// postgresDesk is one in the simple protocol, but for reading.
type postgresDesk struct{ conn *pgx.Conn }

func openPostgresDesk(ctx context.Context, address string) (sinkDesk, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: connect: %w", err)
	}
	return &postgresDesk{conn}, nil
}

func (d *postgresDesk) exec(ctx context.Context, text string) error {
	_, err := d.conn.PgConn().Exec(ctx, text).ReadAll()
	return err
}

func (d *postgresDesk) transact(ctx context.Context, texts []string) error {
	if err := d.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	for _, text := range texts {
		if err := d.exec(ctx, text); err != nil {
			return errors.Join(err, d.exec(ctx, "ROLLBACK"))
		}
	}
	return d.exec(ctx, "COMMIT")
}

func (d *postgresDesk) read(ctx context.Context, query string, each func(v any) error) error {
	rows, err := d.conn.Query(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if err := each(values[0]); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *postgresDesk) Close() error { return d.conn.Close(context.Background()) }
