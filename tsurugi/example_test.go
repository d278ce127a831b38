package tsurugi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hikyaku/hikyaku/tsurugi"
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

// Many statements are on their way at a time; Commit waits for all of them.
func Example() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()

	s, err := tsurugi.Connect(ctx, srv.Endpoint(), tsurugi.Config{Label: "readings"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE readings (id BIGINT PRIMARY KEY, level DOUBLE)")
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	insert, err := s.Prepare(ctx, "INSERT INTO readings (id, level) VALUES (:id, :level)",
		tsurugi.Placeholder{Name: "id", Type: tsurugi.Int8Type},
		tsurugi.Placeholder{Name: "level", Type: tsurugi.Float8Type})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		for id, level := range []float64{0.5, 0.25, 0.75} {
			if _, err := tx.Send(ctx, insert, tsurugi.Int8(int64(id)), tsurugi.Float8(level)); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(err, srv.Count("readings"))
	// Output: <nil> 3
}

// One statement of many rows is the quickest way to write them.
func ExampleNewInsert() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()
	s, err := tsurugi.Connect(ctx, srv.Endpoint(), tsurugi.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE readings (id BIGINT PRIMARY KEY, level DOUBLE)")
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	table, err := s.DescribeTable(ctx, "readings")
	if err != nil {
		fmt.Println(err)
		return
	}
	insert, err := tsurugi.NewInsert(table.Name, table.Columns, 2, tsurugi.InsertOrIgnore)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(insert.SQL)
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		st, err := s.Cached(ctx, insert.SQL, insert.Placeholders...)
		if err != nil {
			return err
		}
		_, err = tx.Send(ctx, st, tsurugi.Int8(1), tsurugi.Float8(0.5), tsurugi.Int8(2), tsurugi.Null())
		return err
	})
	fmt.Println(err, srv.Count("readings"))
	// Output:
	// INSERT OR IGNORE INTO "readings" ("id", "level") VALUES (:p0, :p1), (:p2, :p3)
	// <nil> 2
}

// A pool does the work again when it lost a conflict, or its session.
func ExamplePool_Do() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()
	pool, err := tsurugi.NewPool(srv.Endpoint(), tsurugi.PoolConfig{Sessions: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close(ctx)
	setup := []string{"CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT)", "INSERT INTO counter VALUES (1, 0)"}
	err = pool.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		for _, sql := range setup {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	srv.On(tsurugitest.Times(tsurugitest.Commit, 2, tsurugitest.Conflict())) // the next two commits lose
	tries := 0
	err = pool.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		tries++
		_, err := tx.Exec(ctx, "UPDATE counter SET n = n + 1 WHERE id = 1")
		return err
	})
	fmt.Println(err, tries)
	// Output: <nil> 3
}

// The values of a row are those of its columns' types.
func ExampleRows() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()
	s, err := tsurugi.Connect(ctx, srv.Endpoint(), tsurugi.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		for _, sql := range []string{
			"CREATE TABLE orders (id INT PRIMARY KEY, price DECIMAL(10,2), placed TIMESTAMP)",
			"INSERT INTO orders VALUES (1, 12.5, TIMESTAMP '2026-07-01 09:30:00'), (2, NULL, NULL)",
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, "SELECT * FROM orders ORDER BY id")
		if err != nil {
			return err
		}
		for rows.Next(ctx) {
			v := rows.Values()
			fmt.Println(v[0].Int(), v[1], v[2].IsNull(), v[2])
		}
		return rows.Err()
	})
	fmt.Println(err)
	// Output:
	// 1 12.50 false 2026-07-01 09:30:00
	// 2 NULL true NULL
	// <nil>
}

// What went wrong decides what to do.
func ExampleSafeToRetry() {
	srv := server()
	defer srv.Close()
	ctx := context.Background()
	s, err := tsurugi.Connect(ctx, srv.Endpoint(), tsurugi.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	insert := func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO t VALUES (1)")
		return err
	}
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE t (id INT PRIMARY KEY)")
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hook := range []tsurugitest.Hook{
		tsurugitest.Once(tsurugitest.Commit, tsurugitest.Conflict()),
		nil,
		nil, // the row is there now
		tsurugitest.Once(tsurugitest.Commit, tsurugitest.DoAndDrop),
	} {
		srv.On(hook)
		if hook != nil && srv.Count("t") > 0 {
			insert = func(ctx context.Context, tx *tsurugi.Tx) error {
				_, err := tx.Exec(ctx, "INSERT INTO t VALUES (2)")
				return err
			}
		}
		err := s.Do(ctx, tsurugi.TxOptions{}, insert)
		var unknown *tsurugi.CommitUnknownError
		switch {
		case err == nil:
			fmt.Println("done")
		case tsurugi.SafeToRetry(err):
			fmt.Println("do it again")
		case tsurugi.IsConstraint(err):
			fmt.Println("set the row aside")
		case errors.As(err, &unknown):
			fmt.Println("look whether it is there")
		default:
			fmt.Println(err)
		}
	}
	// Output:
	// do it again
	// done
	// set the row aside
	// look whether it is there
}

// Large objects go through the server's relay.
func ExampleSession_PutObject() {
	srv, err := tsurugitest.New(tsurugitest.Config{Relay: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx := context.Background()
	s, err := tsurugi.Connect(ctx, srv.Endpoint(), tsurugi.Config{Relay: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE pictures (id INT PRIMARY KEY, content BLOB)")
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Do(ctx, tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		return picture(ctx, s, tx)
	})
	fmt.Println(err)
	// Output: as large as it likes <nil>
}

func picture(ctx context.Context, s *tsurugi.Session, tx *tsurugi.Tx) error {
	insert, err := s.Prepare(ctx, "INSERT INTO pictures VALUES (:id, :content)",
		tsurugi.Placeholder{Name: "id", Type: tsurugi.Int4Type},
		tsurugi.Placeholder{Name: "content", Type: tsurugi.BlobType})
	if err != nil {
		return err
	}
	picture, err := s.PutObject(ctx, tsurugi.BlobType, strings.NewReader("as large as it likes "))
	if err != nil {
		return err
	}
	if _, err := tx.ExecPrepared(ctx, insert, tsurugi.Int4(1), picture); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, "SELECT content FROM pictures")
	if err != nil {
		return err
	}
	for rows.Next(ctx) {
		r, err := tx.OpenObject(ctx, rows.Values()[0])
		if err != nil {
			return err
		}
		if _, err := io.Copy(os.Stdout, r); err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return rows.Err()
}
