package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// hasty is a body as the SDK's is for net/http when the answer is there before net/http has looked whether the body has
// ended: closed, and its WriteTo says io.EOF.
type hasty struct {
	io.Reader
	closed chan struct{}
	once   sync.Once
}

func (h *hasty) WriteTo(io.Writer) (int64, error) {
	<-h.closed
	return 0, io.EOF
}

func (h *hasty) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func TestAnAnswerIsReadWholeThoughTheBodyOfTheRequestWasClosed(t *testing.T) {
	answer := strings.Repeat("x", 8<<20) // more than is on its way at once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, answer) // who misses it is the test
	}))
	defer server.Close()
	client := http.Client{Transport: plainBodies{server.Client().Transport}}
	const ask = "how are you?"
	body := &hasty{Reader: strings.NewReader(ask), closed: make(chan struct{})}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = int64(len(ask))
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if string(text) != answer {
		t.Errorf("%d of %d bytes came: %v", len(text), len(answer), err)
	}
}
