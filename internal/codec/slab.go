package codec

import "github.com/hikyaku/hikyaku/internal/message"

// DecodeSlab is Decode for several messages, in their order: made is told what is made of the i-th. What it makes
// shares memory. The errors are in the places of the messages that they are for; nil means that there are none.
func (d *Decoder) DecodeSlab(ms []*message.Message, made func(i int, m *message.Message)) (errs []error) {
	fail := func(i int, err error) {
		if errs == nil {
			errs = make([]error, len(ms))
		}
		errs[i] = err
	}
	f, ok := d.format.(appender)
	if !ok || len(ms) == 1 {
		for i, m := range ms {
			if out, err := d.Decode(m); err != nil {
				fail(i, err)
			} else {
				made(i, out)
			}
		}
		return errs
	}
	room := 0
	for _, m := range ms {
		room += f.room(m.Body)
	}
	outs, text := make([]message.Message, len(ms)), make([]byte, 0, room)
	for i, m := range ms {
		decoded, attributes, err := f.appendDecoded(text, m.Body)
		if err != nil {
			fail(i, err)
			continue
		}
		body := decoded[len(text):len(decoded):len(decoded)]
		text = decoded
		made(i, d.finish(m, &outs[i], body, attributes))
	}
	return errs
}
