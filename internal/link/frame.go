package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// MostFrame is how many bytes a message of a lane may have.
const MostFrame = 256 << 20

// frameHead is the length before each frame. A frame of no bytes says that its sender lives.
const frameHead = 4

// frameStep is how much of a frame is read before there is room for more: a length alone takes none.
const frameStep = 1 << 20

var errFrame = errors.New("a frame of a lane is too long")

// readFrame reads one, which is empty when it only says that the sender lives. It belongs to the caller.
func readFrame(r io.Reader) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > MostFrame {
		return nil, fmt.Errorf("%w: %d bytes", errFrame, length)
	}
	n := int(length)
	frame := make([]byte, min(n, frameStep))
	for have := 0; ; {
		if _, err := io.ReadFull(r, frame[have:]); err != nil {
			return nil, err
		}
		if have = len(frame); have == n {
			return frame, nil
		}
		more := make([]byte, min(n, 2*have))
		copy(more, frame)
		frame = more
	}
}

// writeFrame writes one.
func writeFrame(w io.Writer, frame []byte) error {
	var head [frameHead]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(frame)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(frame)
	return err
}

// hurried is a connection that ends when nothing comes, or nothing of what is written goes, for so long.
type hurried struct {
	net.Conn
	silence time.Duration
}

// Hurry is a stream whose reads and writes fail when nothing comes, or nothing of what is written goes, for so long.
func Hurry(c net.Conn, silence time.Duration) net.Conn { return &hurried{c, silence} }

// Read implements net.Conn.
func (h *hurried) Read(b []byte) (int, error) {
	if err := h.SetReadDeadline(time.Now().Add(h.silence)); err != nil {
		return 0, err
	}
	return h.Conn.Read(b)
}

// Write implements net.Conn.
func (h *hurried) Write(b []byte) (int, error) {
	if err := h.SetWriteDeadline(time.Now().Add(h.silence)); err != nil {
		return 0, err
	}
	return h.Conn.Write(b)
}
