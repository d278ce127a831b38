package lines

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// The codecs of an Encoding.
const (
	Text = "text"    // the body as it is
	JSON = "json"    // the body, which must be JSON, on one line
	Full = "message" // an object with id, time, key, attributes and body
)

// Encoding says how messages are rendered.
type Encoding struct {
	Codec string `yaml:"codec" oneof:"text json message"` // "text", "json" or "message"; "" is "text"
}

// ErrNotJSON is the error of a message whose body is not JSON, where it has to be.
var ErrNotJSON = errors.New(`body is not JSON (the codecs "text" and "message" take any body)`)

// Encoder renders messages. It may be used by several goroutines at once.
type Encoder struct{ codec string }

// NewEncoder checks an Encoding.
func NewEncoder(e Encoding) (*Encoder, error) {
	switch e.Codec {
	case "":
		return &Encoder{Text}, nil
	case Text, JSON, Full:
		return &Encoder{e.Codec}, nil
	}
	return nil, fmt.Errorf("there is no codec %q: it is text, json or message", e.Codec)
}

// Codec is the name of the codec in force.
func (e *Encoder) Codec() string { return e.codec }

// Append appends the message to dst, without a line's end. With an error dst comes back as it was. Only Text can
// render a message as more than one line: when its body has more.
func (e *Encoder) Append(dst []byte, m *message.Message) ([]byte, error) {
	switch e.codec {
	case JSON:
		out, err := appendCompact(dst, m.Body)
		if err != nil {
			return dst, ErrNotJSON
		}
		return out, nil
	case Full:
		return appendFull(dst, m), nil
	}
	return append(dst, m.Body...), nil
}

func appendCompact(dst, body []byte) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, body); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

// appendFull writes all that is known of a message as one JSON object. The body stands under "body", as it is when it
// is JSON and as a string when it is other text; any other body stands under "body_base64".
func appendFull(dst []byte, m *message.Message) []byte {
	dst = append(dst, '{')
	if !m.ID.IsZero() {
		dst = appendString(append(dst, `"id":`...), m.ID.String())
		dst = append(dst, ',')
	}
	if !m.Time.IsZero() {
		dst = appendString(append(dst, `"time":`...), m.Time.UTC().Format(message.TimeFormat))
		dst = append(dst, ',')
	}
	if m.Key != "" {
		dst = appendString(append(dst, `"key":`...), m.Key)
		dst = append(dst, ',')
	}
	if len(m.Attributes) > 0 {
		dst = appendAttributes(append(dst, `"attributes":`...), m.Attributes)
		dst = append(dst, ',')
	}
	if m.Death != nil {
		dst = appendDeath(append(dst, `"death":`...), m.Death)
		dst = append(dst, ',')
	}
	return append(appendBody(dst, m.Body), '}')
}

func appendBody(dst, body []byte) []byte {
	if utf8.Valid(body) {
		dst = append(dst, `"body":`...)
		if out, err := appendCompact(dst, body); err == nil {
			return out
		}
		return appendString(dst, string(body))
	}
	dst = append(dst, `"body_base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, body)
	return append(dst, '"')
}

func appendAttributes(dst []byte, as message.Attributes) []byte {
	dst = append(dst, '{')
	for i, a := range as {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, a.Name)
		dst = append(dst, ':')
		dst = appendValue(dst, a.Value)
	}
	return append(dst, '}')
}

func appendValue(dst []byte, v message.Value) []byte {
	switch v.Kind() {
	case message.KindNull:
		return append(dst, "null"...)
	case message.KindBool, message.KindInt, message.KindUint:
		return append(dst, v.Text()...)
	case message.KindFloat:
		f := v.AsFloat()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return appendString(dst, v.Text()) // JSON has no such number
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	case message.KindDecimal:
		if json.Valid([]byte(v.Text())) {
			return append(dst, v.Text()...)
		}
	}
	return appendString(dst, v.Text())
}

func appendDeath(dst []byte, d *message.Death) []byte {
	dst = append(dst, '{')
	if d.Queue != "" {
		dst = appendString(append(dst, `"queue":`...), d.Queue)
		dst = append(dst, ',')
	}
	if d.Step != "" {
		dst = appendString(append(dst, `"step":`...), d.Step)
		dst = append(dst, ',')
	}
	dst = appendString(append(dst, `"reason":`...), d.Reason)
	dst = append(dst, `,"attempts":`...)
	dst = strconv.AppendInt(dst, int64(d.Attempts), 10)
	dst = appendString(append(dst, `,"time":`...), d.Time.UTC().Format(time.RFC3339Nano))
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
