package wire

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

const xmlHeader = `<?xml version="1.0"?>`

func openTag(dst []byte, name string) []byte {
	dst = append(dst, '<')
	dst = append(dst, name...)
	return append(dst, '>')
}

func closeTag(dst []byte, name string) []byte {
	dst = append(dst, '<', '/')
	dst = append(dst, name...)
	return append(dst, '>')
}

// element appends an element with a text.
func element[T string | []byte](dst []byte, name string, text T) []byte {
	dst = openTag(dst, name)
	dst = escape(dst, text)
	return closeTag(dst, name)
}

// given is element, if there is a text.
func given(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return element(dst, name, text)
}

func number(dst []byte, name string, n int64) []byte {
	dst = openTag(dst, name)
	dst = strconv.AppendInt(dst, n, 10)
	return closeTag(dst, name)
}

// pair appends an element with two: a name and a value.
func pair(dst []byte, outer, nameTag, name, value string) []byte {
	dst = openTag(dst, outer)
	dst = element(dst, nameTag, name)
	dst = element(dst, "Value", value)
	return closeTag(dst, outer)
}

// escape appends a text as XML. A carriage return is written by its number: a parser would make a line feed of it. What
// XML cannot have becomes U+FFFD.
func escape[T string | []byte](dst []byte, text T) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '<':
				dst = append(dst, "&lt;"...)
			case c == '>':
				dst = append(dst, "&gt;"...)
			case c == '&':
				dst = append(dst, "&amp;"...)
			case c == '"':
				dst = append(dst, "&quot;"...)
			case c == '\r':
				dst = append(dst, "&#xD;"...)
			case c < ' ' && c != '\t' && c != '\n':
				dst = append(dst, "\uFFFD"...)
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		if r == utf8.RuneError && size == 1 || r == 0xFFFE || r == 0xFFFF {
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}

func xmlAttributes(dst []byte, attributes []Attribute) []byte {
	for i := range attributes {
		a := &attributes[i]
		dst = append(dst, "<MessageAttribute>"...)
		dst = element(dst, "Name", a.Name)
		dst = append(dst, "<Value>"...)
		if a.Binary != nil {
			dst = append(dst, "<BinaryValue>"...)
			dst = base64.StdEncoding.AppendEncode(dst, a.Binary)
			dst = append(dst, "</BinaryValue>"...)
		} else {
			dst = element(dst, "StringValue", a.Text)
		}
		dst = element(dst, "DataType", a.DataType)
		dst = append(dst, "</Value></MessageAttribute>"...)
	}
	return dst
}

func xmlFailed(dst []byte, failed []BatchError) []byte {
	for i := range failed {
		f := &failed[i]
		dst = append(dst, "<BatchResultErrorEntry>"...)
		dst = element(dst, "Id", f.ID)
		dst = element(dst, "Code", f.Error.Code)
		dst = element(dst, "Message", f.Error.Message)
		dst = append(dst, "<SenderFault>"...)
		dst = strconv.AppendBool(dst, !f.Error.Receiver)
		dst = append(dst, "</SenderFault></BatchResultErrorEntry>"...)
	}
	return dst
}
