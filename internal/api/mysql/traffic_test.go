package mysql

import (
	"errors"
	"testing"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestTheDoorCountsWhatGoesThroughIt(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE jobs (v int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO jobs VALUES (1)")
	if number, _ := ask(t, c, "SELECT * FROM nobody"); number != 1146 {
		t.Fatal(number)
	}
	prepared, err := c.PrepareContext(t.Context(), "SELECT v FROM jobs WHERE v = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	for range 3 {
		rows, err := prepared.QueryContext(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	before := metricstest.Of(t, r.door.traffic.of)
	waited := make(chan error, 1)
	waiter := r.connect("")
	go func() {
		_, err := waiter.ExecContext(t.Context(), "SELECT queue_wait('jobs:v=2', 60)")
		waited <- err
	}()
	doortest.Until(t, "a wait is counted",
		func() bool { return metricstest.Of(t, r.door.traffic.of)["hikyaku_door_waiting mysql messages"] == 1 })
	exec(t, c, "INSERT INTO jobs VALUES (2)")
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	after := metricstest.Of(t, r.door.traffic.of)
	for name, want := range map[string]float64{"query 1146": 1, "query 0": 2, "prepare 0": 1, "execute 0": 3} {
		// the driver sends some of its own
		if n := before["hikyaku_door_requests_total "+name+" mysql"]; n < want || n > want+4 {
			t.Errorf("%s: %v, not %v", name, n, want)
		}
	}
	if n := after["hikyaku_door_waiting mysql messages"]; n != 0 {
		t.Errorf("%v wait", n)
	}
	for _, name := range []string{"hikyaku_door_connections mysql", "hikyaku_door_bytes_total received mysql",
		"hikyaku_door_bytes_total sent mysql"} {
		if after[name] <= 0 {
			t.Errorf("%s is %v", name, after[name])
		}
	}
	if t.Failed() {
		t.Log(before, after)
	}
}

func TestNumbersThatClientsMakeUpAreCountedTogether(t *testing.T) {
	counted := traffic{of: door.NewTraffic("mysql")}
	for n := range 2 * maxCodes {
		counted.ended(callQuery, vmysql.NewSQLError(n+1, "45000", "a signal"))
	}
	counted.ended(callQuery, errors.New("another"))
	all := metricstest.Of(t, counted.of)
	if n := all["hikyaku_door_requests_total query other mysql"]; n != maxCodes+1 {
		t.Errorf("%v are counted together: %v", n, all)
	}
}
