package sqldriver_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/sqldriver"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// server starts a server for the examples; a program has one of its own.
func server() *tsurugitest.Server {
	s, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		panic(err)
	}
	return s
}

// fill makes a table of two readings.
func fill(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "CREATE TABLE readings (id BIGINT PRIMARY KEY, level DOUBLE)"); err != nil {
		return err
	}
	for id, level := range []float64{0.5, 0.25} {
		if _, err := db.ExecContext(ctx, "INSERT INTO readings (id, level) VALUES (?, ?)", id, level); err != nil {
			return err
		}
	}
	return nil
}

// A program that knows database/sql needs no more than the connector.
func Example() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()

	connector, err := sqldriver.NewConnector(srv.Endpoint(), tsurugi.Config{Label: "readings"})
	if err != nil {
		fmt.Println(err)
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if err := fill(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	var level float64
	err = db.QueryRowContext(ctx, "SELECT level FROM readings WHERE id = :id", sql.Named("id", 1)).Scan(&level)
	fmt.Println(level, err)
	// Output: 0.25 <nil>
}

// Tools that open databases by the name of a driver want it registered, once in a program.
func ExampleDriver() {
	srv := server()
	defer srv.Close()

	sql.Register("tsurugi", sqldriver.Driver{})
	db, err := sql.Open("tsurugi", srv.Endpoint()+"?label=nightly&timeout=10s")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	fmt.Println(db.PingContext(context.Background()))
	// Output: <nil>
}

// A transaction that lost a conflict did nothing, and may be tried again; database/sql does not do that by itself.
func ExampleNewConnector_conflict() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()
	connector, err := sqldriver.NewConnector(srv.Endpoint(), tsurugi.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if err := fill(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	srv.On(tsurugitest.Once(tsurugitest.Commit, tsurugitest.Conflict())) // the next commit loses
	for try := 1; ; try++ {
		_, err := db.ExecContext(ctx, "UPDATE readings SET level = ? WHERE id = ?", 0.75, 1)
		if err != nil && tsurugi.SafeToRetry(err) && try < 5 {
			continue
		}
		fmt.Println("try", try, err)
		return
	}
	// Output: try 2 <nil>
}
