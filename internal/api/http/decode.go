package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// decode reads one JSON value strictly: unknown fields, bytes that are no UTF-8 and anything after the value are
// refused. Its errors are *Problem, with the position where there is one.
func decode(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return badRequest.problem("the body is empty").withHint("send a JSON object; GET /openapi.yaml describes it")
	}
	if i := invalidUTF8(data); i >= 0 {
		p := badRequest.problem("the JSON text is not UTF-8").withHint("send bytes that are no text as body_base64")
		p.Position = position(data, i)
		return p
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return jsonProblem(data, err)
	}
	end := int(dec.InputOffset())
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		p := badRequest.problem("there is something after the JSON value").withHint("send several messages as " +
			"{\"messages\": […]}, or as application/x-ndjson")
		p.Position = position(data, len(data)-len(rest))
		return p
	}
	return nil
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}

// jsonProblem turns an error of encoding/json into a problem with a place.
func jsonProblem(data []byte, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	var noTime *time.ParseError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		p = badRequest.problem("the JSON text ends too early")
		p.Position = position(data, len(data))
	case errors.As(err, &syntax):
		p = badRequest.problemf("not JSON: %v", syntax)
		p.Position = position(data, int(syntax.Offset)-1)
	case errors.As(err, &wrongType):
		what := or(wrongType.Field, "the body")
		p = badRequest.problemf("%s cannot be %s", what, article(wrongType.Value))
		p.Position = position(data, int(wrongType.Offset)-1)
	case errors.As(err, &noTime):
		p = badRequest.problemf("%s is no time: write it as \"2006-01-02T15:04:05Z\"", noTime.Value)
	default:
		text := strings.TrimPrefix(err.Error(), "json: ")
		p = badRequest.problem(text)
		if name, unknown := strings.CutPrefix(text, "unknown field "); unknown {
			p.Detail = fmt.Sprintf("there is no field %s here", name)
			p.Hint = "GET /openapi.yaml names the fields of every request"
			if i := bytes.Index(data, []byte(name)); i >= 0 {
				p.Position = position(data, i)
			}
		}
	}
	return p
}

func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

// position counts lines and characters up to an offset.
func position(data []byte, offset int) *Position {
	offset = min(max(offset, 0), len(data))
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &Position{
		Line:   bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[start:]) + 1,
		Offset: offset,
	}
}
