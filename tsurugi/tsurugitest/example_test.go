package tsurugitest_test

import (
	"context"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// run does something in a session of its own with a table of orders.
func run(ctx context.Context, srv *tsurugitest.Server, do func(context.Context, *tsurugi.Tx) error) error {
	s, err := tsurugi.Connect(ctx, srv.Endpoint(), tsurugi.Config{})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	return s.Do(ctx, tsurugi.TxOptions{}, do)
}

// exec is a statement that nobody wants the count of.
func exec(statement string) func(context.Context, *tsurugi.Tx) error {
	return func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	}
}

// A program under test is given the endpoint, and the test looks what became of the tables. In a test Start makes a
// server that ends with it.
func Example() {
	srv, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx := context.Background()
	for _, statement := range []string{"CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(20))",
		"INSERT INTO orders (id, item) VALUES (1, 'tea'), (2, 'cup')"} {
		if err := run(ctx, srv, exec(statement)); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(srv.Count("orders"), "rows,", srv.Count("letters") < 0)
	// Output: 2 rows, true
}

// A server can lose the answer to a commit that it made: nobody but the test knows that the row is there.
func ExampleServer_On() {
	srv, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx := context.Background()
	if err := run(ctx, srv, exec("CREATE TABLE orders (id BIGINT PRIMARY KEY)")); err != nil {
		fmt.Println(err)
		return
	}

	srv.On(tsurugitest.Once(tsurugitest.Commit, tsurugitest.DoAndDrop))
	err = run(ctx, srv, exec("INSERT INTO orders (id) VALUES (1)"))
	fmt.Println(err != nil, tsurugi.SafeToRetry(err), srv.Count("orders"))
	// Output: true false 1
}

// A hook of the test's own sees each request before it is done.
func ExampleHook() {
	srv, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	statements := make(chan string, 10)
	srv.On(func(r tsurugitest.Request) tsurugitest.Action {
		if r.Kind == tsurugitest.Execute {
			statements <- r.SQL
		}
		return tsurugitest.Action{} // it is done as ever
	})
	err = run(context.Background(), srv, exec("CREATE TABLE letters (id BIGINT PRIMARY KEY)"))
	fmt.Println(<-statements, err)
	// Output: CREATE TABLE letters (id BIGINT PRIMARY KEY) <nil>
}
