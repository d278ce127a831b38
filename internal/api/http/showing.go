package http

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	// pieceBytes is how much of a body is encoded at once. A smaller body is encoded with its message.
	pieceBytes = 96 << 10 // a multiple of 3: base64 needs no rest
	// encodedCost is what a body that is encoded with its message, or a piece of one, takes beside itself.
	encodedCost = 4 * pieceBytes
)

// room takes what an answer with messages takes: their bodies, which stay until they are written, and what is encoded
// at a time. An answer that has more than there can be is made alone.
func (c *call) room(ctx context.Context, sum, _ int64) error {
	return c.hold.Take(ctx, min(sum+encodedCost, c.d.busy.Limit()))
}

// show writes one message of an answer: shown makes it with the body, or without one. A large body is written behind
// the rest, piece by piece.
func (c *call) show(m *message.Message, body []byte, shown func(Content) any) error {
	row := m.Row != nil
	if len(body) <= pieceBytes || row && json.Valid(body) {
		return c.encode(shown(content(m, body, row)))
	}
	data, err := json.Marshal(shown(bare(m)))
	if err != nil {
		return err
	}
	text := utf8.Valid(body)
	name := `,"body_base64":"`
	if text {
		name = `,"body":"`
	}
	if _, err := c.w.Write(append(data[:len(data)-1], name...)); err != nil {
		return err
	}
	for len(body) > 0 {
		n := min(pieceBytes, len(body))
		for text && n < len(body) && !utf8.RuneStart(body[n]) {
			n--
		}
		if err := c.piece(body[:n], text); err != nil {
			return err
		}
		body = body[n:]
	}
	_, err = c.w.Write([]byte(`"}`))
	return err
}

// piece writes a part of a body as it stands within a JSON string.
func (c *call) piece(part []byte, text bool) error {
	var out []byte
	if text {
		quoted, err := json.Marshal(string(part))
		if err != nil {
			return err
		}
		out = quoted[1 : len(quoted)-1]
	} else {
		out = base64.StdEncoding.AppendEncode(nil, part)
	}
	_, err := c.w.Write(out)
	return err
}

// encode writes a value.
func (c *call) encode(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = c.w.Write(data)
	return err
}
