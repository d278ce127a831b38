package mysql

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// status is the status that the last packet of an answer carries. The login announced nothing that changes packets'
// shape.
func (c *rawClient) status(statement string) uint16 {
	c.t.Helper()
	c.write(0, append([]byte{3}, statement...))
	p := c.must()
	if p[0] == 0xff {
		c.t.Errorf("%s: error %d: %s", statement, binary.LittleEndian.Uint16(p[1:]), p[9:])
		return 0
	}
	if p[0] == 0 {
		return binary.LittleEndian.Uint16(p[3:])
	}
	for ends := 0; ; {
		if p := c.must(); p[0] == 0xfe && len(p) < 9 {
			if ends++; ends == 2 {
				return binary.LittleEndian.Uint16(p[3:])
			}
		}
	}
}

func (c *rawClient) must() []byte {
	c.t.Helper()
	p, err := c.read()
	if err != nil || len(p) == 0 {
		c.t.Fatalf("a packet was awaited: %q, %v", p, err)
	}
	return p
}

// TestPacketsSayWhetherATransactionIsOpen follows what MySQL's server says. Drivers look there before they commit.
func TestPacketsSayWhetherATransactionIsOpen(t *testing.T) {
	const trans, auto, noEscapes, readOnly = 1, 2, 0x200, 0x2000
	steps := []struct {
		statement string
		want      uint16
	}{
		{"SELECT 1", auto},
		{"BEGIN", trans | auto},
		{"INSERT INTO jobs VALUES (9)", trans | auto},
		{"SELECT v FROM jobs", trans | auto},
		{"SELECT v + 1 FROM jobs", trans | auto},
		{"DO 1", trans | auto},
		{"COMMIT", auto},
		{"INSERT INTO jobs VALUES (9)", auto},
		{"/* a driver's */ START TRANSACTION", trans | auto},
		{"SELECT queue_wait('jobs', 0)", trans | auto},
		{"SELECT queue_end()", trans | auto},
		{"ROLLBACK", auto},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", trans | auto | readOnly},
		{"SHOW ENGINE QUEUE STATUS", trans | auto | readOnly},
		{"COMMIT AND CHAIN", trans | auto | readOnly},
		{"COMMIT AND NO CHAIN", auto},
		{"BEGIN", trans | auto},
		{"SET autocommit = 1", trans | auto},
		{"SAVEPOINT a", trans | auto},
		{"ROLLBACK TO a", trans | auto},
		{"CREATE TABLE other (v int) ENGINE=QUEUE", auto},
		{"BEGIN", trans | auto},
		{"TRUNCATE other", auto},
		{"SET autocommit = 0", 0},
		{"SELECT 1", 0},
		{"INSERT INTO jobs VALUES (9)", trans},
		{"SET autocommit = 0", trans},
		{"COMMIT", 0},
		{"SELECT v FROM jobs", trans},
		{"ROLLBACK", 0},
		{"SELECT v + 1 FROM jobs", trans},
		{"DROP TABLE other", 0},
		{"SELECT queue_wait('jobs', 0)", trans},
		{"SET autocommit = 1", auto},
		{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", auto | noEscapes},
		{"SET sql_mode = ''", auto},
		{"START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */", trans | auto}, // as mysqldump sends it
		{"BEGIN WORK", trans | auto},
		{"COMMIT WORK", auto},
	}
	for _, noShort := range []bool{false, true} {
		t.Run(fmt.Sprint("long ", noShort), func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.door.noShort = noShort
			r.makeJobs(1)
			c := r.dialRaw()
			for _, s := range steps {
				if got := c.status(s.statement); got != s.want {
					t.Errorf("%s: status %#x, want %#x", s.statement, got, s.want)
				}
			}
		})
	}
}

// TestALoginSaysThatAutocommitIsOn: some drivers send SET autocommit=1 for each connection that does not.
func TestALoginSaysThatAutocommitIsOn(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.dialRaw()
	c.write(0, []byte{0x0e})
	if p := c.must(); p[0] != 0 || binary.LittleEndian.Uint16(p[3:]) != 2 {
		t.Errorf("a ping is answered with %q", p)
	}
}
