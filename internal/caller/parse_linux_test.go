package caller

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

var (
	ours   = netip.MustParseAddrPort("127.0.0.1:40000")
	theirs = netip.MustParseAddrPort("127.0.0.1:9001")
)

// answer is what the kernel says of a connection from ours to theirs.
func answer(change func(msg []byte)) []byte {
	b := make([]byte, headerBytes+answerBytes)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], byFamily)
	msg := b[headerBytes:]
	msg[0], msg[1] = unix.AF_INET, established
	copy(msg[4:], question(ours, theirs)[headerBytes+8:][:idBytes])
	binary.NativeEndian.PutUint32(msg[64:], 1000)
	binary.NativeEndian.PutUint32(msg[68:], 7)
	if change != nil {
		change(msg)
	}
	return b
}

func TestOnlyTheConnectionThatWasAskedForIsBelieved(t *testing.T) {
	if uid, err := parse(answer(nil), ours, theirs); err != nil || uid != 1000 {
		t.Fatalf("%d, %v", uid, err)
	}
	for name, change := range map[string]func([]byte){
		"listens":          func(msg []byte) { msg[1] = 10 },
		"waits to be gone": func(msg []byte) { msg[1] = 6 },
		"no inode":         func(msg []byte) { clear(msg[68:72]) },
		"another port":     func(msg []byte) { msg[4]++ },
		"another peer":     func(msg []byte) { msg[7]++ },
		"another address":  func(msg []byte) { msg[8]++ },
		"another family":   func(msg []byte) { msg[0] = unix.AF_UNIX },
		"an IPv6 address":  func(msg []byte) { msg[0] = unix.AF_INET6 },
	} {
		if uid, err := parse(answer(change), ours, theirs); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %d, %v", name, uid, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(answer(nil))
	f.Add(answer(func(msg []byte) { msg[1] = 10 }))
	f.Add(answer(nil)[:40])
	refused := append([]byte{20, 0, 0, 0, unix.NLMSG_ERROR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0xfe, 0xff, 0xff, 0xff)
	f.Add(refused)
	f.Fuzz(func(t *testing.T, b []byte) {
		uid, err := parse(b, ours, theirs)
		if err != nil {
			if uid != 0 || !errors.Is(err, ErrUnknown) {
				t.Errorf("%d, %v", uid, err)
			}
			return
		}
		// What is believed names both ends, is established and belongs to a process.
		want := answer(func(msg []byte) { binary.NativeEndian.PutUint32(msg[64:], uid) })
		have := b[headerBytes:]
		if have[1] != established || binary.NativeEndian.Uint32(have[68:]) == 0 || have[0] == unix.AF_INET &&
			string(have[4:12]) != string(want[headerBytes+4:][:8]) {
			t.Errorf("believed %x", b)
		}
	})
}
