package mysql

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var jobs = inTest("jobs")

func inTest(table string) queue.Name { return queue.Name{Namespace: "test", Name: table} }

// makeJobs makes the table jobs (v int) with so many rows, 1 and up.
func (r *rig) makeJobs(rows int) {
	r.t.Helper()
	columns, err := message.ParseColumns([]string{"v int"})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.store.CreateQueue(r.t.Context(), jobs, queue.Definition{Columns: columns}); err != nil {
		r.t.Fatal(err)
	}
	r.putJobs(1, rows)
}

// putJobs puts rows from first to last.
func (r *rig) putJobs(first, last int) {
	r.t.Helper()
	var rows []message.Message
	for v := first; v <= last; v++ {
		rows = append(rows, message.Message{Row: []message.Value{message.Int(int64(v))}})
	}
	if len(rows) == 0 {
		return
	}
	if _, err := r.store.Put(r.t.Context(), jobs, rows); err != nil {
		r.t.Fatal(err)
	}
}

// until waits for something that is to happen at once.
func (r *rig) until(what string, so func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); !so(); runtime.Gosched() {
		if time.Now().After(end) {
			r.t.Fatal("it does not come to that: " + what)
		}
	}
}

func (r *rig) stats() queue.Stats {
	st, err := r.store.Stats(r.t.Context(), jobs)
	if err != nil {
		r.t.Fatal(err)
	}
	return st
}

// both runs a test over TCP and over a Unix socket, on the short path and on the long one.
func both(t *testing.T, test func(t *testing.T, r *rig, dial func() *rawClient)) {
	for _, noShort := range []bool{false, true} {
		t.Run(fmt.Sprint("tcp, long ", noShort), func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.door.noShort = noShort
			test(t, r, r.dialRaw)
		})
		t.Run(fmt.Sprint("socket, long ", noShort), func(t *testing.T) {
			path := filepath.Join(shortFolder(t), "s")
			r := newRig(t, Config{Socket: path}, nil)
			r.door.noShort = noShort
			test(t, r, func() *rawClient { return logIn(t, "unix", path, identity{user: "root"}) })
		})
	}
}

// shortFolder is a folder with a name short enough for a socket in it, which a test's own may not have.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestAClientThatGoesAwayWhileItOwnsGivesBack(t *testing.T) {
	both(t, func(t *testing.T, r *rig, dial func() *rawClient) {
		r.makeJobs(2)
		c := dial()
		c.want("SELECT queue_wait('jobs', 5)", "1")
		if st := r.stats(); st.Claimed != 1 {
			t.Fatalf("%d claimed", st.Claimed)
		}
		c.conn.Close()
		r.until("the row is ready again", func() bool { return r.stats().Ready == 2 })
		d := dial()
		d.want("SELECT queue_wait('jobs', 5)", "1")
		d.want("SELECT v, queue_rowid() FROM jobs", "1", "1")
	})
}

func TestAClientThatGoesAwayWhileItWaitsTakesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *rig, dial func() *rawClient) {
		r.makeJobs(0)
		c := dial()
		c.write(0, []byte("\x03SELECT queue_wait('jobs', 3600)"))
		r.until("it waits", func() bool { return r.stats().Waiters == 1 })
		c.conn.Close()
		r.until("nobody waits", func() bool { return r.stats().Waiters == 0 })
		r.putJobs(1, 1)
		if st := r.stats(); st.Ready != 1 {
			t.Errorf("%d ready, %d claimed", st.Ready, st.Claimed)
		}
	})
}

func TestAClientThatSaysGoodbyeWhileItWaitsTakesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *rig, dial func() *rawClient) {
		r.makeJobs(0)
		c := dial()
		c.write(0, []byte("\x03SELECT queue_wait('jobs', 3600)"))
		r.until("it waits", func() bool { return r.stats().Waiters == 1 })
		c.write(0, []byte{1}) // COM_QUIT
		c.conn.Close()
		r.until("nobody waits", func() bool { return r.stats().Waiters == 0 })
	})
}

func TestAResetConnectionGivesBack(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	c := r.dialRaw()
	c.want("SELECT queue_wait('jobs', 5)", "1")
	c.want("SET @x = 1")
	c.write(0, []byte{0x1f}) // COM_RESET_CONNECTION
	if ok, err := c.read(); err != nil || ok[0] != 0 {
		t.Fatalf("reset: %q, %v", ok, err)
	}
	if st := r.stats(); st.Ready != 1 {
		t.Errorf("%d ready, %d claimed", st.Ready, st.Claimed)
	}
	if _, err := c.query("SELECT queue_abort()"); err == nil {
		t.Error("still in owner mode")
	}
	c.want("SELECT @x, DATABASE()", "NULL", "test")
	c.want("SELECT queue_wait('jobs', 5)", "1")
	c.want("SELECT queue_end()", "1")
}

func TestTooManyConnectionsAreRefusedByName(t *testing.T) {
	r := newRig(t, Config{MaxConnections: 2}, nil)
	first, _ := r.dialRaw(), r.dialRaw()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	refusal, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(refusal), "\xff\x10\x04Too many connections") {
		t.Errorf("refused with %q", refusal)
	}
	first.conn.Close()
	r.until("there is room again", func() bool { return r.door.limit.open.Load() == 1 })
	r.dialRaw().want("SELECT 1", "1")
}

func TestTheDefaultSocketIsLeftOutWhereItIsAnothers(t *testing.T) {
	path := filepath.Join(shortFolder(t), "s")
	newRig(t, Config{Socket: path}, nil)
	d, err := New(Config{Listen: "127.0.0.1:0", Socket: path}, Options{Store: newRig(t, Config{}, nil).store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context()); err == nil {
		t.Error("a socket that was asked for is another's, and the door opens all the same")
		d.Close(t.Context())
	}
	d.defaultSocket = path
	d.config.Socket = ""
	if _, err := d.Start(t.Context()); err != nil {
		t.Error("the socket that nobody asked for is another's, and the door does not open:", err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheDefaultSocketIsMade(t *testing.T) {
	r := newRig(t, Config{}, nil)
	d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	d.defaultSocket = filepath.Join(shortFolder(t), "s")
	if _, err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	logIn(t, "unix", d.defaultSocket, identity{user: "root"}).want("SELECT USER()", "root@localhost")
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.defaultSocket); !os.IsNotExist(err) {
		t.Error("the socket is still there:", err)
	}
}

func TestCloseEndsWaitsAndGivesBack(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	owner, waiter := r.dialRaw(), r.dialRaw()
	owner.want("SELECT queue_wait('jobs', 5)", "1")
	waiter.write(0, []byte("\x03SELECT queue_wait('jobs', 3600)"))
	r.until("it waits", func() bool { return r.stats().Waiters == 1 })
	begun := time.Now()
	if err := r.door.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > time.Minute { // the wait would last an hour
		t.Errorf("Close took %s", took)
	}
	if st := r.stats(); st.Ready != 1 || st.Waiters != 0 {
		t.Errorf("%d ready, %d claimed, %d waiters", st.Ready, st.Claimed, st.Waiters)
	}
}

func TestBadPacketsHarmNobodyElse(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(1)
	good := r.dialRaw()
	for _, packet := range []string{
		"", "\x00", "\x03", "\x03\xff\xfe\x00", "\x04", "\x04jobs\x00", "\x05", "\x06", "\x07", "\x08", "\x09", "\x0a",
		"\x0c", "\x0d", "\x0e", "\x11", "\x11root\x00",
		"\x12", "\x13", "\x14", "\x15", "\x16", "\x16SELECT ?", "\x17", "\x17\x01\x00\x00\x00",
		"\x17\xff\xff\xff\xff\x00\x01\x00\x00\x00", "\x18", "\x18\x01\x00\x00\x00\x00\x00x",
		"\x19", "\x19\x09\x00\x00\x00", "\x1a", "\x1a\x09\x00\x00\x00", "\x1b", "\x1b\x07\x00", "\x1c",
		"\x1c\x01\x00\x00\x00\x05\x00\x00\x00", "\x1d", "\x1e", "\x1f", "\x20", "\x7f", "\xfe", "\xff",
		"\x02", "\x02no:such", "\x02" + strings.Repeat("x", 300), "\x03" + strings.Repeat("(", 10_000),
		"\x03SELECT '" + strings.Repeat("\\", 1001),
	} {
		bad := r.dialRaw()
		bad.want("SELECT queue_wait('jobs', 5)", "1")
		bad.write(0, []byte(packet))
		bad.write(0, []byte{0x01}) // quit, if it still listens
		_, _ = io.Copy(io.Discard, bad.conn)
		bad.conn.Close()
		r.until("the row is ready again", func() bool { return r.stats().Ready == 1 })
		good.want("SELECT 1", "1")
	}
}

func TestACommandBeyondTheLimitEndsTheConnection(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.door.packetStall = time.Second
	r.makeJobs(1)
	c := r.dialRaw()
	c.want("SELECT queue_wait('jobs', 5)", "1")
	part := make([]byte, 1<<24-1)
	part[0] = 3
	header := []byte{0xff, 0xff, 0xff, 0}
	var err error
	for range 12 { // twelve packets of 16 MiB that belong together
		if _, err = c.conn.Write(header); err == nil {
			_, err = c.conn.Write(part)
		}
		header[3]++
	}
	if err == nil {
		_, err = c.read()
	}
	if err == nil {
		t.Error("the connection lives on")
	}
	r.until("the row is ready again", func() bool { return r.stats().Ready == 1 })
}

// TestAPanicEndsItsConnectionAlone lets a function of SQL panic where rows are made.
func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	r := newRig(t, Config{}, nil)
	var told atomic.Int64
	r.door.report = func(error) { told.Add(1) }
	r.door.functions["boom"] = gms.FunctionN{Name: "boom",
		Fn: func(*gms.Context, ...gms.Expression) (gms.Expression, error) {
			return badRow{&call{name: "queue_rowid"}}, nil
		}}
	r.makeJobs(1)
	c, other := r.dialRaw(), r.dialRaw()
	c.want("SELECT queue_wait('jobs', 0)", "1")
	if got, err := c.query("SELECT boom()"); err == nil || !strings.HasPrefix(err.Error(), "error 1105: ") {
		t.Errorf("answered with %q, %v", got, err)
	}
	if _, err := c.query("SELECT 1"); err == nil {
		t.Error("the connection goes on")
	}
	// the parser of go-mysql-server panics at it
	if got, err := r.dialRaw().query(`SELECT""`); err == nil || !strings.HasPrefix(err.Error(), "error 1105: ") {
		t.Errorf("answered with %q, %v", got, err)
	}
	r.until("the row is ready again", func() bool { return r.stats().Ready == 1 })
	other.want("SELECT v FROM jobs", "1")
	if told.Load() != 2 {
		t.Errorf("%d times reported", told.Load())
	}
}
