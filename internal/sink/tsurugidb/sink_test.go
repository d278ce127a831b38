package tsurugidb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// started makes a sink for a server, which ends with the test.
func started(t testing.TB, server *tsurugitest.Server, c Config) component.Sink {
	t.Helper()
	c.Endpoint = server.Endpoint()
	s, err := New(c, component.Env{Name: "sink"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.(component.Starter).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// bodies are messages with these bodies, each with an id of its own.
func bodies(texts ...string) []*message.Message {
	batch := make([]*message.Message, len(texts))
	for i, text := range texts {
		batch[i] = &message.Message{ID: message.NewID(), Body: []byte(text)}
	}
	return batch
}

// readings are n messages with ids from first on, and ten numbers each.
func readings(first, n int) []*message.Message {
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		fmt.Fprintf(&b, `{"id":%d`, first+i)
		for c := range 10 {
			fmt.Fprintf(&b, `,"value%d":%d.5`, c+1, i)
		}
		texts[i] = b.String() + "}"
	}
	return bodies(texts...)
}

// send delivers a batch and lists its outcomes: "delivered", or the verdict and the reason.
func send(t testing.TB, s component.Sink, batch []*message.Message) []string {
	t.Helper()
	outcomes, err := s.Send(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(outcomes))
	for i, o := range outcomes {
		said[i] = o.Verdict.String()
		if o.Reason != nil {
			said[i] += ": " + o.Reason.Error()
		}
	}
	return said
}

// delivered wants every message of a batch to be.
func delivered(t testing.TB, s component.Sink, batch []*message.Message) {
	t.Helper()
	for i, said := range send(t, s, batch) {
		if said != "delivered" {
			t.Fatalf("message %d is %s", i, said)
		}
	}
}

func TestABatchIsOneTransactionOfAFewStatements(t *testing.T) {
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, doubles("readings", 10))
	s := started(t, server, Config{Config: rows.Config{Table: []string{"readings"}}})
	// an insert takes a hundred rows or more, when it is known how many are left over
	for n, most := range []int64{13, 10, 10} {
		before := server.Stats()
		delivered(t, s, readings(n*1000, 1000))
		after := server.Stats()
		if n := after.Statements - before.Statements; n > most {
			t.Errorf("1,000 rows took %d statements", n)
		}
		if n := after.Commits - before.Commits; n != 1 {
			t.Errorf("%d commits", n)
		}
	}
	if n := server.Count("readings"); n != 3000 {
		t.Errorf("%d rows", n)
	}
	// The first row, the last, and none beside them.
	found := query(t, server, "SELECT id, value1, value10 FROM readings WHERE id = 2999")
	if !slices.Equal(found, []string{"2999|999.5|999.5"}) {
		t.Errorf("%q", found)
	}
}

// TestBlocksOfEverySizeAreWrittenWhole also counts what is prepared: only what comes again is.
func TestBlocksOfEverySizeAreWrittenWhole(t *testing.T) {
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, doubles("readings", 10))
	s := open(t, newDriver(server.Endpoint(), tsurugi.OCC))
	table := describeTable(t, s, "readings")
	written := 0
	write := func(n int) {
		t.Helper()
		if err := s.Write(t.Context(), numbered(table, rows.Insert, written, n)); err != nil {
			t.Fatal(err)
		}
		if written += n; server.Count("readings") != written {
			t.Fatalf("%d rows after a block of %d, not %d", server.Count("readings"), n, written)
		}
	}
	owns := func(want int) {
		t.Helper()
		got := 0
		if own := s.(*session).shapes.list[0].own; own != nil {
			got = own.rows
		}
		if got != want {
			t.Errorf("a statement of %d rows is kept, not of %d", got, want)
		}
	}
	for n := 1; n < 300; n += 7 {
		write(n)
	}
	owns(0)
	for _, n := range []int{40, 1000} {
		most := s.(*session).shapes.list[0].sizes[0].rows
		write(n)
		write(n)
		owns(n % most)
		write(n)
	}
	write(16) // there is one of that size
	write(16)
	owns(1000 % s.(*session).shapes.list[0].sizes[0].rows)
}

// A text of the most bytes that the server takes is written, among others; one of a byte more, or with a NUL, is
// refused before it is sent, and costs the others nothing.
func TestTextsOfAnyLengthAreWrittenOrRefused(t *testing.T) {
	server := tsurugitest.Start(t, tsurugitest.Config{})
	do(t, server, "CREATE TABLE texts (id INT PRIMARY KEY, v VARCHAR(*))")
	s := started(t, server, Config{Config: rows.Config{Table: []string{"texts"}}})
	text := func(id int, v string) string { return fmt.Sprintf(`{"id":%d,"v":"%s"}`, id, v) }
	long := strings.Repeat("x", longest)
	before := server.Stats()
	said := send(t, s, bodies(text(1, "a"), text(2, long), text(3, long+"x"), text(4, long), text(5, `a\u0000b`),
		text(6, "b")))
	for i, want := range []string{"delivered", "delivered", "rejected", "delivered", "rejected", "delivered"} {
		if !strings.HasPrefix(said[i], want) {
			t.Errorf("message %d is %s", i+1, said[i])
		}
	}
	if after := server.Stats(); after.Commits != before.Commits+1 || server.Count("texts") != 4 {
		t.Errorf("%d commits, %d rows", after.Commits-before.Commits, server.Count("texts"))
	}
}
