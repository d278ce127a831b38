package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// version is that of what nodes say to each other. It is counted up when old and new ones cannot understand each other.
const version = 1

// hello is what a connection begins with, from who made it: who that is, and what the stream is for.
type hello struct {
	cluster string
	node    string // "": no node, but a command
	kind    string
}

// answer is what comes back.
type answer struct {
	node   string // who answers
	reason string // why the stream is not taken; "": it is
}

const mostHello = 1 << 10

var errHello = errors.New("not what a node says first")

// The bytes of both are a length of two bytes, the version, and strings of a length of one byte each.

func pack(texts ...string) []byte {
	b := []byte{0, 0, version}
	for _, t := range texts {
		t = t[:min(len(t), 255)]
		b = append(append(b, byte(len(t))), t...)
	}
	binary.BigEndian.PutUint16(b, uint16(len(b)-2))
	return b
}

// unpack reads as many strings. After those a later version may say more.
func unpack(r io.Reader, texts ...*string) error {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(head[:]))
	if n < 1 || n > mostHello {
		return errHello
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	if b[0] != version {
		return fmt.Errorf("it speaks version %d of the link, and this node version %d", b[0], version)
	}
	b = b[1:]
	for _, t := range texts {
		if len(b) == 0 || len(b)-1 < int(b[0]) {
			return errHello
		}
		*t, b = string(b[1:1+b[0]]), b[1+int(b[0]):]
	}
	return nil
}

func (h *hello) bytes() []byte { return pack(h.cluster, h.node, h.kind) }

func readHello(r io.Reader) (h hello, err error) {
	if err := unpack(r, &h.cluster, &h.node, &h.kind); err != nil {
		return hello{}, err
	}
	if CheckName(h.cluster) != nil || CheckName(h.kind) != nil || h.node != "" && CheckName(h.node) != nil {
		return hello{}, errHello
	}
	return h, nil
}

func (a *answer) bytes() []byte { return pack(a.node, a.reason) }

func readAnswer(r io.Reader) (a answer, err error) {
	if err := unpack(r, &a.node, &a.reason); err != nil {
		return answer{}, err
	}
	if CheckName(a.node) != nil {
		return answer{}, errHello
	}
	return a, nil
}
