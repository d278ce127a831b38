package codec

import (
	"errors"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Decoder decodes messages. It is never changed after New: any number of goroutines may use one at once.
type Decoder struct {
	config Config
	format format
}

// format is one codec: it makes the body and attributes of a decoded message from a body, which it must not change.
type format interface {
	decode(body []byte) (decoded []byte, attributes []message.Attribute, err error)
}

// appender is a format whose bodies are made anew, so that several can be pieces of one text: its decode appends to
// dst.
type appender interface {
	appendDecoded(dst, body []byte) (decoded []byte, attributes []message.Attribute, err error)
	room(body []byte) int // about how much is appended
}

// ErrNoHeader is what Decode answers while the columns are not known: see Config.Header.
var ErrNoHeader = errors.New("csv: the columns are not known: header is set, but no first record was given")

// New checks a Config and makes its Decoder. Errors are *component.SettingError, with names of Config's settings.
func New(c Config) (*Decoder, error) {
	if c.Codec == "" {
		c.Codec = "bytes"
	}
	if !slices.Contains(codecNames, c.Codec) {
		return nil, wrong("codec", "there are: "+strings.Join(codecNames, ", "), "unknown codec %s", quote(c.Codec))
	}
	if err := c.belongs(); err != nil {
		return nil, err
	}
	f, err := newFormat(&c)
	if err != nil {
		return nil, err
	}
	return &Decoder{config: c, format: f}, nil
}

func newFormat(c *Config) (format, error) {
	w, err := newWanted(c)
	if err != nil {
		return nil, err
	}
	switch c.Codec {
	case "json":
		return newJSON(w), nil
	case "csv":
		return newCSV(c, w)
	case "logfmt":
		return &logfmtFormat{wanted: w}, nil
	case "regex":
		return newRegex(c, w)
	case "text":
		return textFormat{}, nil
	default:
		return bytesFormat{}, nil
	}
}

// WithHeader returns a Decoder for a stream whose first record is line, when Config.Header is set; otherwise d itself,
// and then line is a record like any other: NeedsHeader tells. A source calls it once for each stream (a file,
// standard input), and again with the same first line when it goes on in the middle of one. The error is an *Error when
// line is no record, and a *component.SettingError when its columns do not go with the Config.
func (d *Decoder) WithHeader(line []byte) (*Decoder, error) {
	if !d.config.Header {
		return d, nil
	}
	c, err := d.config.withHeader(line)
	if err != nil {
		return nil, err
	}
	f, err := newFormat(&c)
	if err != nil {
		return nil, err
	}
	return &Decoder{config: c, format: f}, nil
}

// NeedsHeader tells whether the first record of each stream has to go to WithHeader and not to Decode.
func (d *Decoder) NeedsHeader() bool { return d.config.Header && d.format == nil }

// Decode returns a message like m with a JSON object of the fields as its body and the wanted fields as attributes; an
// attribute that m has and the fields do not give stays. m is not changed; the new body may share m's bytes. The error
// is an *Error, or ErrNoHeader: the message is not for this codec, and trying again will not help.
func (d *Decoder) Decode(m *message.Message) (*message.Message, error) {
	if d.format == nil {
		return nil, ErrNoHeader
	}
	body, attributes, err := d.format.decode(m.Body)
	if err != nil {
		return nil, err
	}
	return d.finish(m, new(message.Message), body, attributes), nil
}

// finish makes out of m and what its body says.
func (d *Decoder) finish(m, out *message.Message, body []byte, attributes []message.Attribute) *message.Message {
	*out = *m
	out.Body = body
	out.Row = nil // the columns that the old body stood for
	if !d.reshapes() {
		out.Row = slices.Clone(m.Row)
	}
	out.Attributes = merge(slices.Clone(m.Attributes), attributes)
	return out
}

// reshapes tells whether bodies come out as something else than they went in.
func (d *Decoder) reshapes() bool { return d.config.Codec != "text" && d.config.Codec != "bytes" }

// merge sets the attributes of news in old, in their order. It takes both.
func merge(old message.Attributes, news []message.Attribute) message.Attributes {
	if len(old)+len(news) <= 8 { // the usual case: no sorting
		for _, a := range news {
			old.Set(a.Name, a.Value)
		}
		return old
	}
	all := append(old, news...)
	slices.SortStableFunc(all, func(a, b message.Attribute) int { return strings.Compare(a.Name, b.Name) })
	n := 0
	for i, a := range all {
		if i+1 == len(all) || all[i+1].Name != a.Name { // the last of a name wins
			all[n] = a
			n++
		}
	}
	return slices.Clip(all[:n])
}

// textFormat leaves the body alone but for checking that it is text; bytesFormat does not even look.
type (
	textFormat  struct{}
	bytesFormat struct{}
)

func (textFormat) decode(body []byte) ([]byte, []message.Attribute, error) {
	if i := invalidUTF8(body); i >= 0 {
		return nil, nil, utf8Error("text", body, i)
	}
	return body, nil, nil
}

func (bytesFormat) decode(body []byte) ([]byte, []message.Attribute, error) { return body, nil, nil }
