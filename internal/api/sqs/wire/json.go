package wire

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// quote appends a JSON string. What is not UTF-8 becomes U+FFFD.
func quote[T string | []byte](dst []byte, text T) []byte {
	from := len(dst)
	dst = jsontext.AppendQuoted(dst, text)
	if written := dst[from:]; !utf8.Valid(written) {
		dst = append(dst[:from], bytes.ToValidUTF8(written, []byte("\uFFFD"))...)
	}
	return dst
}

// A members appends the members of a JSON object.
type members struct {
	dst  []byte
	some bool // there is a member before
}

func objectIn(dst []byte) members { return members{dst: append(dst, '{')} }

func (m *members) end() []byte { return append(m.dst, '}') }

func (m *members) name(name string) {
	if m.some {
		m.dst = append(m.dst, ',')
	}
	m.some = true
	m.dst = append(m.dst, '"')
	m.dst = append(m.dst, name...)
	m.dst = append(m.dst, '"', ':')
}

func (m *members) text(name, value string) {
	m.name(name)
	m.dst = quote(m.dst, value)
}

// given is text, if there is one.
func (m *members) given(name, value string) {
	if value != "" {
		m.text(name, value)
	}
}

func (m *members) integer(name string, value int64) {
	m.name(name)
	m.dst = strconv.AppendInt(m.dst, value, 10)
}

// texts is a list of texts, if there are any.
func (m *members) texts(name string, values []string) {
	for i, value := range values {
		m.item(name, i)
		m.dst = quote(m.dst, value)
	}
	m.endItems(len(values))
}

// settings is a map of texts, if there are any.
func (m *members) settings(name string, values []Setting) {
	if len(values) == 0 {
		return
	}
	m.name(name)
	inner := objectIn(m.dst)
	for i := range values {
		inner.some = i > 0
		inner.quotedName(values[i].Name)
		inner.dst = quote(inner.dst, values[i].Value)
	}
	m.dst = inner.end()
}

// quotedName is name for one that a user chose.
func (m *members) quotedName(name string) {
	if m.some {
		m.dst = append(m.dst, ',')
	}
	m.dst = quote(m.dst, name)
	m.dst = append(m.dst, ':')
}

// item begins the element of a list at an index, and with the first one the list.
func (m *members) item(name string, i int) {
	if i == 0 {
		m.name(name)
		m.dst = append(m.dst, '[')
		return
	}
	m.dst = append(m.dst, ',')
}

// endItems ends a list of n elements, if it was begun.
func (m *members) endItems(n int) {
	if n > 0 {
		m.dst = append(m.dst, ']')
	}
}

func (m *members) attributes(name string, attributes []Attribute) {
	if len(attributes) == 0 {
		return
	}
	m.name(name)
	inner := objectIn(m.dst)
	for i := range attributes {
		a := &attributes[i]
		inner.some = i > 0
		inner.quotedName(a.Name)
		value := objectIn(inner.dst)
		if a.Binary != nil {
			value.name("BinaryValue")
			value.dst = append(value.dst, '"')
			value.dst = base64.StdEncoding.AppendEncode(value.dst, a.Binary)
			value.dst = append(value.dst, '"')
		} else {
			value.text("StringValue", a.Text)
		}
		value.text("DataType", a.DataType)
		inner.dst = value.end()
	}
	m.dst = inner.end()
}

func (m *members) failed(failed []BatchError) {
	for i := range failed {
		m.item("Failed", i)
		f := &failed[i]
		inner := objectIn(m.dst)
		inner.text("Id", f.ID)
		inner.name("SenderFault")
		inner.dst = strconv.AppendBool(inner.dst, !f.Error.Receiver)
		inner.text("Code", f.Error.Code)
		inner.text("Message", f.Error.Message)
		m.dst = inner.end()
	}
	m.endItems(len(failed))
}

// sortedTags returns tags in the order of their keys.
func sortedTags(tags map[string]string) []Setting {
	sorted := make([]Setting, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		sorted = append(sorted, Setting{key, tags[key]})
	}
	return sorted
}
