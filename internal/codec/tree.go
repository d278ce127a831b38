package codec

import (
	"encoding/json"
	"strconv"
)

// Tree reads a JSON body into the values that jq programs work on: nil, bool, int, json.Number, string, []any and
// map[string]any. A number that is not an int stays a json.Number, so that no digit is lost. Of a name that an object
// has twice the last one counts. The error is an *Error.
func Tree(body []byte) (any, error) {
	// One pass checks, a second builds: building then has no errors to handle, and a broken body costs no memory.
	check := scanner{src: body}
	if _, err := check.document(); err != nil {
		return nil, err
	}
	t := tree{scanner{src: body}}
	t.space()
	return t.build(), nil
}

// tree builds values from JSON that is known to be good.
type tree struct{ scanner }

func (t *tree) build() any {
	start := t.pos
	switch t.src[start] {
	case '{':
		return t.buildObject()
	case '[':
		return t.buildArray()
	case '"':
		return t.buildString()
	case 't':
		t.pos += len("true")
		return true
	case 'f':
		t.pos += len("false")
		return false
	case 'n':
		t.pos += len("null")
		return nil
	default:
		return t.buildNumber()
	}
}

func (t *tree) buildObject() any {
	object := map[string]any{}
	t.pos++
	for t.space(); !t.accept('}'); t.space() {
		t.accept(',')
		t.space()
		name := t.buildString()
		t.space()
		t.accept(':')
		t.space()
		object[name] = t.build()
	}
	return object
}

func (t *tree) buildArray() any {
	array := []any{}
	t.pos++
	for t.space(); !t.accept(']'); t.space() {
		t.accept(',')
		t.space()
		array = append(array, t.build())
	}
	return array
}

// buildString reads to the closing quote: the first one that no backslash stands before.
func (t *tree) buildString() string {
	start := t.pos
	for t.pos++; t.src[t.pos] != '"'; t.pos++ {
		if t.src[t.pos] == '\\' {
			t.pos++
		}
	}
	t.pos++
	return unquote(t.src[start:t.pos])
}

func (t *tree) buildNumber() any {
	start := t.pos
	for t.pos < len(t.src) && isNumberByte(t.src[t.pos]) {
		t.pos++
	}
	text := string(t.src[start:t.pos])
	if i, err := strconv.Atoi(text); err == nil && text != "-0" {
		return i
	}
	return json.Number(text)
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}
