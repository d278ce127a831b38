package mysql

import (
	"testing"
)

// TestBoundMomentsKeepTheirDigits: drivers that bind dates and times as such send numbers, of which none may lose the
// zeros that it begins with.
func TestBoundMomentsKeepTheirDigits(t *testing.T) {
	r := newRig(t, Config{}, nil)
	conn := r.connect("")
	exec(t, conn, "CREATE TABLE m (a datetime(6), b time(6), c date, d timestamp(3), e varchar(40), f varchar(40)) "+
		"ENGINE=QUEUE")
	const date, datetime, timestamp, clock = 10, 12, 7, 11
	at := []byte{11, 0xe8, 0x07, 2, 9, 1, 2, 3, 0xa0, 0x0f, 0, 0}    // 2024-02-09 01:02:03.004
	span := []byte{12, 1, 1, 0, 0, 0, 1, 2, 3, 0x05, 0x00, 0, 0}     // -25:02:03.000005
	text := []byte{12, 0, 0, 0, 0, 0, 1, 2, 3, 0x70, 0x17, 0, 0}     // 01:02:03.006
	third := []byte{11, 0xe8, 0x07, 2, 9, 1, 2, 3, 0x60, 0xea, 0, 0} // 2024-02-09 01:02:03.06
	values := [][]byte{at, span, {4, 0xe8, 0x07, 2, 9}, third, at, text}
	c := r.dialRaw()
	c.want("SET time_zone = '+00:00'")
	c.write(0, []byte("\x16INSERT INTO m VALUES (?, ?, ?, ?, ?, ?)"))
	prepared := c.must()
	c.until(0xfe)
	command := append(append([]byte{0x17}, prepared[1:5]...), 0, 1, 0, 0, 0, 0, 1)
	for _, typ := range []byte{datetime, clock, date, timestamp, datetime, clock} {
		command = append(command, typ, 0)
	}
	for _, v := range values {
		command = append(command, v...)
	}
	c.write(0, command)
	if p := c.must(); p[0] != 0 {
		t.Fatalf("the insert is answered with %q", p)
	}
	for column, want := range map[string]string{
		"a": "2024-02-09 01:02:03.004000", "b": "-25:02:03.000005", "c": "2024-02-09", "d": "2024-02-09 01:02:03.060",
		"e": "2024-02-09 01:02:03.004000", "f": "01:02:03.006000",
	} {
		one(t, conn, want, "SELECT "+column+" FROM m")
	}
	for text, want := range map[string]string{"": "", " ": " ", "5-1-2": "0005-01-02", "-838:59:59": "-838:59:59",
		"0:0:0.0": "00:00:00.000000", "2024-12-31 23:59:59.999999": "2024-12-31 23:59:59.999999"} {
		if got := withZeros(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}
