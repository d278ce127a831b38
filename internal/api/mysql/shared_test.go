package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
)

// live is what objects and stacks take, without what lies idle between them.
func live() int64 {
	heap()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// clientBytes is what the other end of a connection takes here.
const clientBytes = 2 << 10

// TestAnIdleConnectionTakesNoMoreThanItCountsFor: a thousand, each of which has set what drivers set.
func TestAnIdleConnectionTakesNoMoreThanItCountsFor(t *testing.T) {
	r := newRig(t, Config{}, nil)
	begin := func() *rawClient {
		c := r.dialRaw()
		for _, statement := range []string{"SET NAMES utf8mb4", "SET autocommit=1, sql_mode='STRICT_TRANS_TABLES'",
			"SET time_zone='+00:00'", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"} {
			c.want(statement)
		}
		c.want("SELECT 1", "1")
		return c
	}
	begin() // what is made once is made
	before := live()
	clients := make([]*rawClient, idle)
	for i := range clients {
		clients[i] = begin()
	}
	each := (live() - before) / idle
	t.Logf("each connection: %d bytes", each)
	if each > door.ConnStands+sessionBytes+clientBytes {
		t.Errorf("a connection takes %d bytes, and counts for %d", each, door.ConnStands+sessionBytes)
	}
	runtime.KeepAlive(clients)
}

// TestVariablesThatSessionsShareAreTheirOwn: what one sets is not another's, and what is set for all is that of
// sessions that begin later.
func TestVariablesThatSessionsShareAreTheirOwn(t *testing.T) {
	r := newRig(t, Config{}, nil)
	a, b := r.connect(""), r.connect("")
	one(t, a, int64(28800), "SELECT @@wait_timeout")
	exec(t, a, "SET wait_timeout = 100, sql_mode = 'ANSI_QUOTES', character_set_results = 'latin1'")
	exec(t, b, "SET GLOBAL net_retry_count = 77")
	later := r.connect("")
	for _, q := range []struct {
		a, b, later any
		statement   string
	}{
		{int64(100), int64(28800), int64(28800), "SELECT @@wait_timeout"},
		{int64(10), int64(10), int64(77), "SELECT @@session.net_retry_count + 0"},
		{int64(77), int64(77), int64(77), "SELECT @@global.net_retry_count + 0"},
		{int64(1), int64(0), int64(0), "SELECT @@sql_mode = 'ANSI_QUOTES'"},
		{int64(0), int64(1), int64(1), "SELECT @@sql_mode = @@global.sql_mode"},
		{int64(0), int64(1), int64(1), "SELECT @@character_set_results = 'utf8mb4'"},
	} {
		one(t, a, q.a, q.statement)
		one(t, b, q.b, q.statement)
		one(t, later, q.later, q.statement)
	}
	for _, c := range []struct {
		statement, want string
	}{
		{"SHOW VARIABLES LIKE 'wait_timeout'", "100"}, {"SHOW GLOBAL VARIABLES LIKE 'wait_timeout'", "28800"},
		{"SHOW SESSION VARIABLES LIKE 'sql_mode'", "ANSI_QUOTES"},
	} {
		var name, value string
		if err := a.QueryRowContext(t.Context(), c.statement).Scan(&name, &value); err != nil || value != c.want {
			t.Errorf("%s: %q, %v, want %q", c.statement, value, err, c.want)
		}
	}
	exec(t, a, "SET wait_timeout = DEFAULT")
	one(t, a, int64(28800), "SELECT @@wait_timeout")
	exec(t, a, "SET GLOBAL net_retry_count = 10") // it is the process's
	_, err := a.ExecContext(t.Context(), "SET nothing_of_the_kind = 1")
	failsWith(t, err, 1193, "HY000", "a variable that there is not")
	_, err = a.ExecContext(t.Context(), "SET version = '5'")
	failsWith(t, err, 1238, "HY000", "a variable that is only read")
}

// TestCountersOfASessionAreItsOwn: they begin at 0, whatever others have done.
func TestCountersOfASessionAreItsOwn(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	count := func(c *sql.Conn) string {
		var name, n string
		if err := c.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Com_delete'").Scan(&name, &n); err != nil {
			t.Error(err)
		}
		return n
	}
	a, b := r.connect(""), r.connect("")
	for range 3 {
		exec(t, a, "DELETE FROM jobs WHERE v = 1 + 1")
	}
	if x, y := count(a), count(b); x != "3" || y != "0" {
		t.Errorf("%s and %s deletes are counted, want 3 and 0", x, y)
	}
}

// TestManyVariablesOfAConnectionCount: those that a driver sets are counted with the connection, all others besides.
func TestManyVariablesOfAConnectionCount(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	before := r.door.keeping.Used()
	for i, name := range []string{"wait_timeout", "net_retry_count", "net_read_timeout", "net_write_timeout",
		"lock_wait_timeout", "max_sort_length", "sort_buffer_size", "join_buffer_size", "read_buffer_size",
		"tmp_table_size", "max_heap_table_size", "div_precision_increment", "group_concat_max_len",
		"eq_range_index_dive_limit",
		"auto_increment_increment", "auto_increment_offset", "bulk_insert_buffer_size", "default_week_format",
		"max_error_count", "max_length_for_sort_data", "optimizer_search_depth"} {
		var now int64
		if err := c.QueryRowContext(t.Context(), "SELECT @@"+name).Scan(&now); err != nil {
			t.Fatal(err)
		}
		exec(t, c, fmt.Sprintf("SET %s = %d", name, now))
		if more := r.door.keeping.Used() - before; i == 0 && more != 0 {
			t.Errorf("the first one takes %d bytes besides", more)
		}
	}
	if more := r.door.keeping.Used() - before; more < variableBytes {
		t.Errorf("20 variables take %d bytes besides", more)
	}
}

// The engine's counters and hooks are the process's. The race detector tells.
func TestDoorsOpenAtTheSameTime(t *testing.T) {
	s, stop := openStore(t, t.TempDir())
	t.Cleanup(stop)
	var opening sync.WaitGroup
	for range 8 {
		d, err := New(Config{Listen: "127.0.0.1:0", Socket: settings.NoSocket}, Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		opening.Go(func() {
			if _, err := d.Start(t.Context()); err != nil {
				t.Error(err)
			} else if err := d.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
}
