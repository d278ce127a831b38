// Command gomysql speaks to a running hikyaku with go-mysql-org/go-mysql and prints a line a check: "ok NAME" or "not
// ok NAME: why". It is a module of its own; scripts/need-clients builds it. The checks and the variables that say where
// the server is: ../README.md.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
)

const text = "こんにちは 🚚 é"

var (
	failed   bool
	user     = os.Getenv("CLIENT_USER")
	password = os.Getenv("CLIENT_PASSWORD")
	ca       = os.Getenv("CLIENT_CA")
	database = os.Getenv("CLIENT_DATABASE")
	address  = os.Getenv("CLIENT_HOST") + ":" + os.Getenv("CLIENT_PORT")
)

func check(name string, body func() error) {
	if err := body(); err != nil {
		failed = true
		fmt.Printf("not ok %s: %.500s\n", name, strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	fmt.Println("ok", name)
}

func want(expected, got any) error {
	if !reflect.DeepEqual(expected, got) {
		return fmt.Errorf("got %#v, want %#v", got, expected)
	}
	return nil
}

func main() {
	check("connect-tcp", func() error { return once(address, password) })
	check("connect-socket", func() error { return once(os.Getenv("CLIENT_SOCKET"), password) })
	check("compression", compressed)
	if ca != "" {
		check("connect-tls", encrypted)
	}
	if password != "" {
		check("wrong-password", func() error { return refused(1045, once(address, "not it")) })
	}
	c, err := client.Connect(address, user, password, database, named)
	if err != nil {
		fmt.Println("not ok open:", err)
		os.Exit(1)
	}
	check("ping", c.Ping)
	check("create-table", func() error { return create(c) })
	check("show-table", func() error { return show(c) })
	check("insert-text", func() error {
		return changes(c, 1, "INSERT INTO gomysql (id, s, n) VALUES (1, '"+text+"', 18446744073709551615)")
	})
	check("insert-prepared", func() error { return insert(c) })
	check("transactions", func() error { return transactions(c) })
	check("wait-parameters", func() error { return wait(c) })
	check("own-row-prepared", func() error { return own(c) })
	check("end", func() error { return errors.Join(equal(c, int64(1), "SELECT queue_end()"), none(c)) })
	check("error-codes", func() error {
		_, missing := c.Execute("SELECT * FROM nowhere")
		_, wrong := c.Execute("SELEC 1")
		_, zero := c.Execute("INSERT INTO gomysql (id) VALUES (1 / 0)")
		return errors.Join(refused(1146, missing), refused(1064, wrong), refused(1365, zero))
	})
	check("column-types", func() error { return described(c) })
	check("pool", pooled)
	check("drop-table", func() error {
		_, err := c.Execute("DROP TABLE gomysql")
		return errors.Join(err, c.Quit())
	})
	if failed {
		os.Exit(1)
	}
}

// named makes the connection's letters those of four bytes.
func named(c *client.Conn) error { return c.SetCharset("utf8mb4") }

func once(where, secret string, options ...client.Option) error {
	c, err := client.Connect(where, user, secret, database, options...)
	if err != nil {
		return err
	}
	return errors.Join(equal(c, int64(2), "SELECT 1 + 1"), c.Quit())
}

func equal(c *client.Conn, expected any, query string, args ...any) error {
	r, err := c.Execute(query, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := r.GetValue(0, 0)
	if text, ok := got.([]byte); ok {
		got = string(text)
	}
	return errors.Join(err, want(expected, got))
}

func changes(c *client.Conn, rows uint64, statement string, args ...any) error {
	r, err := c.Execute(statement, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	return want(rows, r.AffectedRows)
}

// refused demands MySQL's error of that number.
func refused(number uint16, err error) error {
	var m *mysql.MyError
	if !errors.As(err, &m) || m.Code != number {
		return fmt.Errorf("got %v, want error %d", err, number)
	}
	return nil
}

// compressed sends and reads a megabyte in each of the compressed protocols.
func compressed() error {
	for _, way := range []uint32{mysql.CLIENT_COMPRESS, mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM} {
		c, err := client.Connect(address, user, password, database, func(c *client.Conn) error {
			c.SetCapability(way)
			return nil
		})
		if err != nil {
			return err
		}
		long := strings.Repeat("0123456789abcdef", 1<<16)
		if err := errors.Join(equal(c, long, "SELECT '"+long+"'"), c.Quit()); err != nil {
			return err
		}
	}
	return nil
}

func encrypted() error {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	c, err := client.Connect(address, user, password, database, func(c *client.Conn) error {
		c.SetTLSConfig(&tls.Config{RootCAs: pool, ServerName: os.Getenv("CLIENT_HOST")})
		return nil
	})
	if err != nil {
		return err
	}
	r, err := c.Execute("SHOW STATUS LIKE 'Ssl_cipher'")
	if err != nil {
		return err
	}
	if cipher, err := r.GetString(0, 1); err != nil || cipher == "" {
		return fmt.Errorf("the connection is not encrypted: %v", err)
	}
	return c.Quit()
}

func create(c *client.Conn) error {
	_, err := c.Execute("DROP TABLE IF EXISTS gomysql")
	_, made := c.Execute("CREATE TABLE gomysql (id int NOT NULL, s varchar(50), n bigint unsigned, d decimal(10,3), " +
		"at datetime(6), b blob, f double, t time) ENGINE=QUEUE")
	return errors.Join(err, made)
}

// show asks for the columns with a command of its own.
func show(c *client.Conn) error {
	fields, err := c.FieldList("gomysql", "")
	if err != nil {
		return err
	}
	var names []string
	for _, f := range fields {
		names = append(names, string(f.Name))
	}
	return want("id s n d at b f t", strings.Join(names, " "))
}

func insert(c *client.Conn) error {
	st, err := c.Prepare("INSERT INTO gomysql VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	if err := want(8, st.ParamNum()); err != nil {
		return err
	}
	r, err := st.Execute(2, text, uint64(1<<63), "1234.567", "2026-01-02 03:04:05.678901", []byte{0, 0xff}, 0.5,
		"-12:34:56")
	if err != nil {
		return err
	}
	_, err = st.Execute(3, nil, nil, nil, nil, nil, nil, nil)
	return errors.Join(err, want(uint64(1), r.AffectedRows), st.Close())
}

func transactions(c *client.Conn) error {
	if err := c.Begin(); err != nil {
		return err
	}
	if !c.IsInTransaction() {
		return errors.New("it is in no transaction")
	}
	if err := errors.Join(changes(c, 1, "INSERT INTO gomysql (id) VALUES (4)"), c.Rollback()); err != nil {
		return err
	}
	if c.IsInTransaction() || !c.IsAutoCommit() {
		return errors.New("it is still in a transaction")
	}
	return equal(c, int64(4), "SELECT count(*) FROM gomysql")
}

func wait(c *client.Conn) error {
	return errors.Join(equal(c, int64(1), "SELECT queue_wait(?, ?)", "gomysql:id=2", 5),
		equal(c, int64(2), "SELECT queue_rowid()"))
}

// own reads the row that is owned: prepared, and row by row.
func own(c *client.Conn) error {
	st, err := c.Prepare("SELECT * FROM gomysql")
	if err != nil {
		return err
	}
	var row []any
	var r mysql.Result
	if err := st.ExecuteSelectStreaming(&r, func(values []mysql.FieldValue) error {
		for _, v := range values {
			value := v.Value()
			if bytes, ok := value.([]byte); ok {
				value = string(bytes)
			}
			row = append(row, value)
		}
		return nil
	}, nil); err != nil {
		return err
	}
	return errors.Join(st.Close(), want([]any{int64(2), text, uint64(1 << 63), "1234.567", "2026-01-02 03:04:05.678901",
		"\x00\xff", 0.5, "-12:34:56"}, row))
}

func none(c *client.Conn) error {
	return equal(c, int64(0), "SELECT count(*) FROM gomysql WHERE id = 2")
}

// described demands the types of computed columns, of a text and of a prepared statement.
func described(c *client.Conn) error {
	const query = "SELECT 1, count(*), sum(id), max(s), now(3), 'x', id = 1, pi() FROM gomysql"
	expected := []uint8{mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_NEWDECIMAL,
		mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_LONGLONG,
		mysql.MYSQL_TYPE_DOUBLE}
	for _, args := range [][]any{nil, {1}} {
		statement := query
		if args != nil {
			statement += " WHERE id = ?"
		} else {
			statement += " WHERE id = 1"
		}
		statement += " GROUP BY id"
		r, err := c.Execute(statement, args...)
		if err != nil {
			return err
		}
		var got []uint8
		for _, f := range r.Fields {
			got = append(got, f.Type)
		}
		if err := want(expected, got); err != nil {
			return err
		}
	}
	return nil
}

// pooled takes rows by many workers, on connections that go from one to another.
func pooled() error {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	pool, err := client.NewPoolWithOptions(address, user, password, database, client.WithPoolLimits(2, 4, 4),
		client.WithLogger(quiet), client.WithNewPoolPingTimeout(time.Minute))
	if err != nil {
		return err
	}
	defer pool.Close()
	errs := make([]error, 20)
	var workers sync.WaitGroup
	for i := range errs {
		workers.Add(1)
		go func() {
			defer workers.Done()
			errs[i] = func() error {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				c, err := pool.GetConn(ctx)
				if err != nil {
					return err
				}
				defer pool.PutConn(c)
				return errors.Join(changes(c, 1, "INSERT INTO gomysql (id) VALUES (?)", 100+i),
					equal(c, int64(1), "SELECT queue_wait(?, 5)", fmt.Sprintf("gomysql:id=%d", 100+i)),
					equal(c, int64(1), "SELECT queue_end()"))
			}()
		}()
	}
	workers.Wait()
	return errors.Join(errs...)
}
