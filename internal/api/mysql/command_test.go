package mysql

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
)

// TestCommandsThatAreNoStatements: what programs ask of a server without SQL.
func TestCommandsThatAreNoStatements(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(2)
	c, other := r.dialRaw(), r.dialRaw()
	c.write(0, []byte{0x09})
	if p := c.must(); !bytes.HasPrefix(p, []byte("Uptime: ")) ||
		!bytes.Contains(p, []byte("  Threads: 2  Questions: ")) {
		t.Errorf("COM_STATISTICS: %q", p)
	}
	other.want("SELECT queue_wait('jobs', 0)", "1")
	id, err := other.query("SELECT CONNECTION_ID()")
	if err != nil {
		t.Fatal(err)
	}
	var n uint32
	fmt.Sscan(id[0], &n) //nolint:errcheck // what is none kills nothing
	c.write(0, binary.LittleEndian.AppendUint32([]byte{0x0c}, n))
	if p := c.must(); p[0] != 0 {
		t.Errorf("COM_PROCESS_KILL: %q", p)
	}
	if p, err := other.read(); err == nil {
		t.Errorf("who was killed reads %q", p)
	}
	r.until("the row is back", func() bool { return r.stats().Ready == 2 })
	c.write(0, binary.LittleEndian.AppendUint32([]byte{0x0c}, 1<<30))
	if p := c.must(); p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != 1094 {
		t.Errorf("COM_PROCESS_KILL of nobody: %q", p)
	}
	c.write(0, []byte{0x07, 1})
	if p := c.must(); p[0] != 0 {
		t.Errorf("COM_REFRESH: %q", p)
	}
	c.want("SELECT 'on'", "on")
}

// TestAResetBeginsAnew: what was owned, set, prepared and begun is forgotten, also with a cursor open; packets say that
// autocommit is on.
func TestAResetBeginsAnew(t *testing.T) {
	for name, command := range map[string][]byte{
		"reset":       {0x1f},
		"change user": []byte("\x11root\x00\x00test\x00\x21\x00mysql_native_password\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.makeJobs(500)
			c := r.dialRaw()
			for _, s := range []string{"SET @kept = 7, autocommit = 0, sql_mode = 'ANSI_QUOTES'", "SET NAMES sjis",
				"SELECT queue_wait('jobs', 0)"} {
				if _, err := c.query(s); err != nil {
					t.Fatal(err)
				}
			}
			c.write(0, []byte("\x16SELECT 1 UNION SELECT 2"))
			prepared := c.must()
			c.until(0xfe)
			c.write(0, append(append([]byte{0x17}, prepared[1:5]...), 1, 1, 0, 0, 0)) // with a cursor that is left open
			c.until(0xfe)
			c.write(0, command)
			if p := c.must(); p[0] != 0 || binary.LittleEndian.Uint16(p[3:]) != 2 {
				t.Fatalf("it is answered with %q", p)
			}
			if st := r.stats(); st.Claimed != 0 {
				t.Errorf("%d rows are still owned", st.Claimed)
			}
			c.want(`SELECT @kept, @@autocommit, "text", DATABASE(), hex('é')`, "NULL", "1", "text", "test", "C3A9")
			c.write(0, append(append([]byte{0x17}, prepared[1:5]...), 0, 1, 0, 0, 0))
			if p := c.must(); p[0] != 0xff {
				t.Errorf("what was prepared is still there: %q", p)
			}
		})
	}
}

// until reads up to a packet that begins so and is short.
func (c *rawClient) until(first byte) {
	c.t.Helper()
	for {
		if p := c.must(); p[0] == first && len(p) < 9 {
			return
		} else if p[0] == 0xff {
			c.t.Fatalf("error: %q", p)
		}
	}
}

// TestAnotherUserGoesOnWithAConnection, who has to show a password, by both methods; who cannot is refused, and the
// connection ends.
func TestAnotherUserGoesOnWithAConnection(t *testing.T) {
	r := newRig(t, Config{}, users(t))
	for _, method := range []string{"mysql_native_password", "caching_sha2_password"} {
		for secret, works := range map[string]bool{"taker-secret": true, "boss-secret": false, "": false} {
			c := r.dial(identity{user: "boss", secret: "boss-secret"})
			c.want("SELECT user() LIKE 'boss@%'", "1")
			c.write(0, []byte("\x11taker\x00\x00test\x00\x21\x00"+method+"\x00"))
			p := c.must()
			if p[0] != 0xfe || !bytes.HasPrefix(p[1:], []byte(method+"\x00")) {
				t.Fatalf("%s: it is asked by %q", method, p)
			}
			salt := p[1+len(method)+1 : len(p)-1]
			proof := vmysql.ScrambleMysqlNativePassword(salt, []byte(secret))
			if strings.HasPrefix(method, "caching") {
				proof = vmysql.ScrambleCachingSha2Password(salt, []byte(secret))
			}
			c.write(2, proof)
			if p = c.must(); p[0] == 1 { // the short form worked
				p = c.must()
			}
			if !works {
				if _, err := c.read(); p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != 1045 || err == nil {
					t.Errorf("%s, %q: %q", method, secret, p)
				}
				continue
			}
			if p[0] != 0 {
				t.Errorf("%s: %q", method, p)
			}
			c.want("SELECT user() LIKE 'taker@%', DATABASE()", "1", "test")
			if _, err := c.query("CREATE TABLE t (v int) ENGINE=QUEUE"); err == nil ||
				!strings.Contains(err.Error(), "1142") {
				t.Errorf("taker makes a table: %v", err)
			}
		}
	}
}

// TestClientsWithoutMethodsAreToldWhatTheyLack: they know mysql_native_password alone, which no hash can check.
func TestClientsWithoutMethodsAreToldWhatTheyLack(t *testing.T) {
	hash := access.Secret(access.HashSecret("hashed-secret"))
	all, err := access.New([]access.User{{Name: "plain", Secret: "plain-secret"},
		{Name: "hashed", SecretHash: []access.Secret{hash}}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Config{}, all)
	c := r.dial(identity{user: "plain", secret: "plain-secret", old: true})
	c.want("SELECT @@default_authentication_plugin, @@authentication_policy", "mysql_native_password",
		"*:mysql_native_password,,")
	for user, want := range map[string]uint16{"plain": 1045, "hashed": 1251, "nobody": 1251} {
		_, answer := knock(t, "tcp", r.addr, identity{user: user, secret: "wrong", old: true})
		if answer[0] != 0xff || binary.LittleEndian.Uint16(answer[1:]) != want {
			t.Errorf("%s: %q", user, answer)
		}
		if want == 1251 && !bytes.Contains(answer, []byte("08004Client does not support authentication protocol")) {
			t.Errorf("%s: %q", user, answer)
		}
	}
	// Those who know methods are asked for one that works, whoever they are.
	for _, user := range []string{"hashed", "nobody"} {
		if _, answer := knock(t, "tcp", r.addr, identity{user: user, secret: "wrong"}); !bytes.HasPrefix(answer,
			[]byte("\xfecaching_sha2_password\x00")) {
			t.Errorf("%s: %q", user, answer)
		}
	}
}
