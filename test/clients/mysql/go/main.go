// Command go speaks to a running hikyaku with go-sql-driver/mysql and prints a line a check: "ok NAME" or "not ok NAME:
// why". It is not a test of its own: clients_test.go builds it, starts the server and runs it.
// The checks and the variables that say where the server is: ../README.md.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	patience = time.Minute // that only a broken server needs
	text     = "こんにちは 🚚 é"
)

var (
	password = os.Getenv("CLIENT_PASSWORD")
	ca       = os.Getenv("CLIENT_CA")
)

func main() {
	if err := mysql.SetLogger(quiet{}); err != nil {
		fmt.Println("not ok logger:", err)
		os.Exit(1)
	}
	c := &checks{}
	connecting(c)
	db, err := open(nil)
	if err != nil {
		fmt.Println("not ok open:", err)
		os.Exit(1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	conn, err := db.Conn(ctx) // owner mode belongs to one connection
	if err != nil {
		fmt.Println("not ok conn:", err)
		os.Exit(1)
	}
	l := &link{ctx: ctx, conn: conn}
	tables(c, l)
	owning(c, db, l)
	types(c, l)
	session(c, l)
	if err := errors.Join(conn.Close(), db.Close()); err != nil {
		fmt.Println("not ok close:", err)
		os.Exit(1)
	}
	os.Exit(c.code())
}

// quiet keeps the driver from writing to standard error what the checks provoke.
type quiet struct{}

func (quiet) Print(...any) {}

// open makes a pool of connections over TCP; change alters its settings.
func open(change func(*mysql.Config)) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = os.Getenv("CLIENT_USER"), password, os.Getenv("CLIENT_DATABASE")
	cfg.Net, cfg.Addr = "tcp", os.Getenv("CLIENT_HOST")+":"+os.Getenv("CLIENT_PORT")
	cfg.ParseTime, cfg.Timeout, cfg.ReadTimeout = true, patience, patience
	if change != nil {
		change(cfg)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func overSocket(cfg *mysql.Config) { cfg.Net, cfg.Addr = "unix", os.Getenv("CLIENT_SOCKET") }

func overTLS(cfg *mysql.Config) {
	pem, err := os.ReadFile(ca)
	pool := x509.NewCertPool()
	if err == nil {
		pool.AppendCertsFromPEM(pem)
	}
	cfg.TLS = &tls.Config{RootCAs: pool, ServerName: os.Getenv("CLIENT_HOST"), MinVersion: tls.VersionTLS12}
}

// once connects with changed settings, runs SELECT 1 and hangs up.
func once(change func(*mysql.Config)) error {
	db, err := open(change)
	if err != nil {
		return err
	}
	var n int
	err = db.QueryRow("SELECT 1").Scan(&n)
	if err == nil && n != 1 {
		err = fmt.Errorf("SELECT 1 is %d", n)
	}
	return errors.Join(err, db.Close())
}

func connecting(c *checks) {
	c.check("connect-tcp", func() error { return once(nil) })
	c.check("connect-socket", func() error { return once(overSocket) })
	c.check("ping", func() error {
		db, err := open(nil)
		if err != nil {
			return err
		}
		return errors.Join(db.Ping(), db.Close())
	})
	if ca != "" {
		c.check("connect-tls", func() error {
			db, err := open(overTLS)
			if err != nil {
				return err
			}
			var name, cipher string
			err = db.QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher)
			if err == nil && cipher == "" {
				err = errors.New("the connection is not encrypted")
			}
			return errors.Join(err, db.Close())
		})
	}
	if password == "" {
		return
	}
	// It takes the method that the greeting names.
	c.check("connect-native", func() error { return once(nil) })
	c.check("wrong-password", func() error {
		return errors.Join(
			refused(1045, "28000", once(func(cfg *mysql.Config) { cfg.Passwd = "not it" })),
			refused(1045, "28000", once(func(cfg *mysql.Config) { cfg.Passwd = "" })),
			refused(1045, "28000", once(func(cfg *mysql.Config) { cfg.User = "nobody" })),
		)
	})
}

// refused demands MySQL's error of that number and SQLSTATE.
func refused(number uint16, state string, err error) error {
	var m *mysql.MySQLError
	if !errors.As(err, &m) {
		return fmt.Errorf("got %v, wanted error %d (%s)", err, number, state)
	}
	if m.Number != number || string(m.SQLState[:]) != state {
		return fmt.Errorf("got %s, wanted error %d (%s)", strings.TrimSpace(m.Error()), number, state)
	}
	return nil
}
