package mysql

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestACursorGivesTheRowsThatItRead: rows wait for the client to fetch them while the statement reads on.
func TestACursorGivesTheRowsThatItRead(t *testing.T) {
	const rows = 2000
	r := newRig(t, Config{}, nil)
	r.makeJobs(rows)
	c := r.dialRaw()
	c.write(0, []byte("\x16SELECT concat('the row number ', v) FROM jobs"))
	prepared := c.must()
	c.until(0xfe)
	c.write(0, append(append([]byte{0x17}, prepared[1:5]...), 1, 1, 0, 0, 0))
	c.until(0xfe)
	n := 0
	for last := false; !last; {
		c.write(0, append(append([]byte{0x1c}, prepared[1:5]...), 50, 0, 0, 0))
		for {
			p := c.must()
			if p[0] == 0xff {
				t.Fatalf("error: %q", p)
			}
			if p[0] == 0xfe && len(p) < 9 {
				status := binary.LittleEndian.Uint16(p[3:])
				last = status&0x80 != 0
				if goesOn := status&0x40 != 0; goesOn == last { // some drivers look here
					t.Fatalf("behind row %d the status is %#x", n, status)
				}
				break
			}
			n++
			if got, want := string(p[3:]), fmt.Sprint("the row number ", n); got != want {
				t.Fatalf("row %d is %q", n, got)
			}
		}
	}
	if n != rows {
		t.Errorf("%d rows came", n)
	}
	// An error is told as it is.
	c.write(0, []byte("\x16SELECT (SELECT v FROM jobs)"))
	prepared = c.must()
	c.until(0xfe)
	c.write(0, append(append([]byte{0x17}, prepared[1:5]...), 1, 1, 0, 0, 0))
	if p := c.must(); p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != 1242 {
		t.Errorf("a statement that fails is answered with %q", p)
	}
	// One that is left open, and another statement that fails.
	c.write(0, []byte("\x16SELECT concat(v, '') FROM jobs"))
	prepared = c.must()
	c.until(0xfe)
	c.write(0, append(append([]byte{0x17}, prepared[1:5]...), 1, 1, 0, 0, 0))
	c.until(0xfe)
	c.write(0, append([]byte{0x1a}, prepared[1:5]...))
	if p := c.must(); p[0] != 0 {
		t.Errorf("a reset is answered with %q", p)
	}
	if _, err := c.query("SELECT * FROM nothing"); err == nil || !strings.Contains(err.Error(), "1146") {
		t.Errorf("behind a cursor that was left: %v", err)
	}
}
