package serial_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/serial"
)

// FuzzDecode: of whatever comes over a line, those messages are found that the far end finds in it, and a frame behind
// a zero is among them.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, []byte{0x82, 1})
	f.Add([]byte("\x05\x82\x02\xb7\x40\x00\x02\x82\x03\xf5\x60\x00"), []byte{0x83, 0, 0, 'x'})
	f.Add(bytes.Repeat([]byte{0xff}, 300), []byte{0x81, 1})
	f.Add(append(coded(make([]byte, 126)), coded(make([]byte, 127))...), []byte{0x82, 0})
	f.Fuzz(func(t *testing.T, line, message []byte) {
		if len(message) == 0 || len(message) > 126 {
			return
		}
		line = slices.Concat(line, []byte{0}, coded(message))
		var want, got [][]byte
		for _, frame := range bytes.Split(line, []byte{0}) {
			if m, err := uncoded(frame); err == nil {
				want = append(want, m)
			}
		}
		serial.Decode(line, func(m []byte) { got = append(got, bytes.Clone(m)) })
		if len(got) != len(want) || !bytes.Equal(got[len(got)-1], message) {
			t.Fatalf("%x: %x, not %x", line, got, want)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("%x: %x, not %x", line, got, want)
			}
		}
	})
}

// FuzzState: a far end takes every state that is written, and presses what is in it.
func FuzzState(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(255), bytes.Repeat([]byte{100, 0x9c, 1}, 12))
	f.Fuzz(func(t *testing.T, number byte, values []byte) {
		var s macro.State
		for i := range min(len(values), len(s)) {
			s[i] = int8(values[i]) % 101
		}
		frame := serial.AppendState(nil, number, &s)
		m, err := uncoded(frame[1 : len(frame)-1])
		if err != nil || frame[0] != 0 || bytes.IndexByte(frame[1:], 0) != len(frame)-2 || m[1] != number {
			t.Fatalf("%v: %x, %v", s, frame, err)
		}
		if _, err := stateOf(m); err != nil {
			t.Fatal(err)
		}
		var got macro.State
		for i := 2; i < len(m); i += 2 {
			got[m[i]] = int8(m[i+1])
		}
		if got != s {
			t.Fatalf("%v became %v", s, got)
		}
	})
}
