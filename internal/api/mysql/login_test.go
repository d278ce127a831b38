package mysql

import (
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

// greeted dials the door and reads its greeting.
func greeted(t *testing.T, r *rig) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(head[0])); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// askTLS is the packet that asks for TLS: capabilities, the largest packet, a character set.
var askTLS = append([]byte{32, 0, 0, 1, 0x00, 0x8a, 0x08, 0x00, 0, 0, 0, 1, 45}, make([]byte, 23)...)

// largest is the head of the largest packet that the library sets room aside for.
func largest(sequence byte) []byte { return []byte{0xfe, 0xff, 0xff, sequence, 1, 2, 3} }

// TestWhoHasNotLoggedInTakesLittleMemory announces the largest packet on many connections, as a login: those that are
// not encrypted end, and of those under TLS as many go on at once as there is room for.
func TestWhoHasNotLoggedInTakesLittleMemory(t *testing.T) {
	files, pool := certificate(t)
	s, stop := openStore(t, t.TempDir())
	t.Cleanup(stop)
	busy := door.NewBusy(loginShare * secureLogin) // there is room for one under TLS
	r := newRigWithin(t, Config{TLS: files}, users(t), s, busy)
	r.door.traffic.of.Waiting(door.ForRoom) // the metric is there from now on
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const many = 20
	for range many {
		c := greeted(t, r)
		send(t, c, largest(1))
		if _, err := io.Copy(io.Discard, c); err != nil && r.door.logins.Used() > 0 {
			t.Error(err)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > many<<20 {
		t.Errorf("%d logins that say they have 16 MiB took %d bytes", many, took)
	}
	first := greeted(t, r)
	send(t, first, askTLS)
	secure := tls.Client(first, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	send(t, secure, largest(2))
	if used := r.door.logins.Used(); used != secureLogin {
		t.Errorf("a login under TLS takes %d bytes", used)
	}
	second := greeted(t, r)
	send(t, second, askTLS)
	done := make(chan error, 1)
	go func() {
		done <- tls.Client(second, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}).Handshake()
	}()
	r.until("it waits", func() bool {
		return metricstest.Of(t, r.door.traffic.of)["hikyaku_door_waiting mysql room"] == 1
	})
	select {
	case err := <-done:
		t.Error("there is room for a second one:", err)
	default:
	}
	first.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	second.Close()
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "boss", "boss-secret", "tcp", r.addr, "test"
	config.TLS = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
	one(t, r.connectTo(config), int64(1), "SELECT 1")
	if used := r.door.logins.Used(); used != 0 {
		t.Errorf("%d bytes are taken when it has shown who it is", used)
	}
}

// TestALoginWithManyAttributesGoesOn: up to what a client may have.
func TestALoginWithManyAttributesGoesOn(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "boss", "boss-secret", "tcp", r.addr, "test"
	value := make([]byte, 60<<10)
	for i := range value {
		value[i] = 'x'
	}
	config.ConnectionAttributes = "large:" + string(value)
	one(t, r.connectTo(config), int64(1), "SELECT 1")
	if used := r.door.logins.Used(); used != 0 {
		t.Errorf("%d bytes are taken when it has shown who it is", used)
	}
}
