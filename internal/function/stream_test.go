package function_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
)

// pieces is a Stream that keeps what it gets.
type pieces struct {
	bytes.Buffer
	kind   string
	writes int
	breaks bool // every Write fails
}

func (p *pieces) Begin(contentType string) { p.kind = contentType }

func (p *pieces) Write(b []byte) (int, error) {
	p.writes++
	if p.breaks {
		return 0, errors.New("nobody is there")
	}
	return p.Buffer.Write(b)
}

func TestAStreamedAnswerComesPieceByPiece(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, single)
	s := &pieces{}
	ask := function.Request{Function: "f", Payload: []byte(`{"do":"stream","n":3}`), LogTail: true}
	r, err := p.InvokeStream(t.Context(), ask, s)
	if err != nil || r.FunctionError != "" || s.kind != "text/plain" || s.String() != "piece 0\npiece 1\npiece 2\n" ||
		r.Streamed != int64(s.Len()) || r.Payload != nil {
		t.Errorf("%q of type %q: %+v, %v", s.String(), s.kind, r, err)
	}
	contains(t, "the log's end", string(r.LogTail), "REPORT RequestId: ")
	if r := invoke(t, p, string(ask.Payload)); string(r.Payload) != s.String() || r.ContentType != "text/plain" {
		t.Errorf("who does not want pieces gets %+v with %q", r, r.Payload)
	}
}

func TestAnAnswerInOnePieceIsStreamed(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	s := &pieces{}
	r, err := p.InvokeStream(t.Context(), function.Request{Function: "f", Payload: []byte(`"whole"`)}, s)
	if err != nil || s.String() != `"whole"` || s.kind != "application/json" || r.Streamed != 7 {
		t.Errorf("%q: %+v, %v", s.String(), r, err)
	}
}

func TestAnErrorBehindAStreamIsTold(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	s := &pieces{}
	r, err := p.InvokeStream(t.Context(),
		function.Request{Function: "f", Payload: []byte(`{"do":"stream and fail","n":2}`)}, s)
	if err != nil || s.String() != "piece 0\npiece 1\n" || r.FunctionError != "Unhandled" ||
		r.ErrorType != "Stream.Broken" || string(r.Payload) != `{"errorType":"Stream.Broken"}` {
		t.Errorf("%q: %+v with %s, %v", s.String(), r, r.Payload, err)
	}
}

func TestAnErrorInsteadOfAStreamIsAResult(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	s := &pieces{}
	r, err := p.InvokeStream(t.Context(),
		function.Request{Function: "f", Payload: []byte(`{"do":"error","text":"no"}`)}, s)
	if err != nil || s.writes != 0 || r.ErrorType != "Oops" {
		t.Errorf("%q: %+v, %v", s.String(), r, err)
	}
}

func TestAReaderThatGoesAwayDoesNotStopTheFunction(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, single)
	s := &pieces{breaks: true}
	r, err := p.InvokeStream(t.Context(), function.Request{Function: "f", Payload: []byte(`{"do":"stream","n":1000}`)},
		s)
	if err != nil || r.FunctionError != "" || s.writes != 1 {
		t.Errorf("%d writes: %+v, %v", s.writes, r, err)
	}
	if again := invoke(t, p, `{}`); again.Instance != r.Instance {
		t.Error("the instance was not kept")
	}
}
