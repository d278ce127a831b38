package syslog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// framer cuts a stream into messages (RFC 6587). A message that begins with a count, a space and "<" has so many
// octets; any other ends with its line. Both may stand in one stream.
type framer struct {
	in   *bufio.Reader
	max  int
	text []byte // of the last message
}

const (
	readBytes  = 16 << 10
	countBytes = 9 // digits of a count at most
)

func newFramer(in io.Reader, limit int) *framer {
	return &framer{in: bufio.NewReaderSize(in, readBytes), max: limit}
}

// next returns the next message, which is good until the next call. What is longer than the bound is cut, which long
// tells. At the end of the stream a line needs no end; a counted message that is not whole is io.ErrUnexpectedEOF.
func (f *framer) next() (text []byte, long bool, err error) {
	f.text = f.text[:0]
	for {
		b, err := f.in.ReadByte()
		if err != nil {
			return nil, false, err
		}
		if b != '\n' && b != '\r' && b != 0 && b != ' ' { // what stands between messages
			break
		}
	}
	_ = f.in.UnreadByte() // there is one
	if n, ok := f.count(); ok {
		return f.octets(n)
	}
	return f.line()
}

// count takes the count of a message that has one. It waits for no byte that a line might not have.
func (f *framer) count() (n int, ok bool) {
	for i := range countBytes + 1 {
		b, _ := f.in.Peek(i + 1)
		switch {
		case len(b) <= i: // it has ended
			return 0, false
		case '0' <= b[i] && b[i] <= '9' && i < countBytes && (i > 0 || b[i] != '0'):
			n = 10*n + int(b[i]-'0')
			continue
		case b[i] != ' ' || i == 0:
			return 0, false
		}
		if b, _ = f.in.Peek(i + 2); len(b) < i+2 || b[i+1] != '<' {
			return 0, false
		}
		_, _ = f.in.Discard(i + 1)
		return n, true
	}
	return 0, false
}

// octets takes a message of n bytes.
func (f *framer) octets(n int) (text []byte, long bool, err error) {
	kept := min(n, f.max)
	for len(f.text) < kept { // memory for what has come, whatever was announced
		b, err := f.in.Peek(min(kept-len(f.text), max(1, f.in.Buffered())))
		if len(b) == 0 {
			return nil, false, unexpected(err)
		}
		f.text = append(f.text, b...)
		_, _ = f.in.Discard(len(b))
	}
	if _, err := f.in.Discard(n - kept); err != nil {
		return nil, false, unexpected(err)
	}
	return trim(f.text), n > f.max, nil
}

// line takes a line.
func (f *framer) line() (text []byte, long bool, err error) {
	for {
		b, err := f.in.ReadSlice('\n')
		if room := f.max + 1 - len(f.text); room > 0 { // one more tells that it is too long
			ended := bytes.TrimRight(b, "\r\n")
			f.text = append(f.text, ended[:min(room, len(ended))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, false, io.ErrUnexpectedEOF
		}
		long = len(f.text) > f.max
		return trim(f.text[:min(len(f.text), f.max)]), long, nil
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// trim leaves out what some senders put behind a message.
func trim(text []byte) []byte { return bytes.TrimRight(text, "\r\n\x00") }
