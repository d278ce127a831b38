package q4m

import (
	"encoding/binary"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

func (l *lightLine) ask(statement string) (answer string, found bool, err error) {
	l.begin(comQuery)
	l.out = append(l.out, statement...)
	if err := l.send(); err != nil {
		return "", false, err
	}
	p, err := l.read()
	if err != nil || p[0] == answerOK {
		return "", false, err
	}
	columns, _, ok := lengthOf(p)
	if !ok {
		return "", false, harness.ErrProtocol
	}
	if err := l.skip(int(columns)); err != nil {
		return "", false, err
	}
	for {
		p, err := l.read()
		if err != nil || isEnd(p) {
			return answer, found, err
		}
		if found {
			continue
		}
		found = true
		if p[0] == answerNull {
			continue
		}
		n, rest, ok := lengthOf(p)
		if !ok || n > uint64(len(rest)) {
			return "", false, harness.ErrProtocol
		}
		answer = string(rest[:n])
	}
}

// skip reads descriptions of columns and what ends them.
func (l *lightLine) skip(columns int) error {
	if columns == 0 {
		return nil
	}
	for range columns {
		if _, err := l.read(); err != nil {
			return err
		}
	}
	p, err := l.read()
	if err == nil && !isEnd(p) {
		err = harness.ErrProtocol
	}
	return err
}

// isEnd tells whether a packet ends a list.
func isEnd(p []byte) bool { return p[0] == answerEnd && len(p) < 9 }

// lengthOf reads a number as the protocol writes lengths.
func lengthOf(p []byte) (n uint64, rest []byte, ok bool) {
	width := 0
	switch {
	case len(p) == 0:
		return 0, nil, false
	case p[0] < answerNull:
		return uint64(p[0]), p[1:], true
	case p[0] == 0xfc:
		width = 2
	case p[0] == 0xfd:
		width = 3
	case p[0] == 0xfe:
		width = 8
	}
	if width == 0 || len(p) <= width {
		return 0, nil, false
	}
	for i := width; i > 0; i-- {
		n = n<<8 | uint64(p[i])
	}
	return n, p[1+width:], true
}

func (l *lightLine) prepare(statement string) error {
	l.begin(comPrepare)
	l.out = append(l.out, statement...)
	if err := l.send(); err != nil {
		return err
	}
	p, err := l.read()
	if err != nil {
		return err
	}
	if p[0] != answerOK || len(p) < 9 {
		return harness.ErrProtocol
	}
	l.prepared = binary.LittleEndian.Uint32(p[1:])
	columns, params := binary.LittleEndian.Uint16(p[5:]), binary.LittleEndian.Uint16(p[7:])
	if params != 3 {
		return fmt.Errorf("%w: the statement has %d placeholders instead of those of a row", harness.ErrProtocol,
			params)
	}
	if err := l.skip(int(params)); err != nil {
		return err
	}
	return l.skip(int(columns))
}

// The types of what is bound: two texts and a number of 64 bits.
const (
	typeText   = 0xfd
	typeNumber = 0x08
)

func (l *lightLine) execute(id, payload string, at int64) error {
	l.begin(comExecute)
	l.out = binary.LittleEndian.AppendUint32(l.out, l.prepared)
	l.out = append(l.out, 0, 1, 0, 0, 0)                           // no cursor, once
	l.out = append(l.out, 0, 1)                                    // no NULL, and types follow
	l.out = append(l.out, typeText, 0, typeText, 0, typeNumber, 0) // each with a byte for what is unsigned
	l.out = appendText(l.out, id)
	l.out = appendText(l.out, payload)
	l.out = binary.LittleEndian.AppendUint64(l.out, uint64(at))
	return l.expectOK()
}

func appendText(out []byte, text string) []byte {
	n := len(text)
	switch {
	case n < answerNull:
		out = append(out, byte(n))
	case n < 1<<16:
		out = append(out, 0xfc, byte(n), byte(n>>8))
	default:
		out = append(out, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return append(out, text...)
}

func (l *lightLine) ping() error {
	l.begin(comPing)
	return l.expectOK()
}

// expectOK sends what was put together, to which the answer is that it was done.
func (l *lightLine) expectOK() error {
	if err := l.send(); err != nil {
		return err
	}
	p, err := l.read()
	if err == nil && p[0] != answerOK {
		err = harness.ErrProtocol
	}
	return err
}
