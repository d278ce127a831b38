package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// inside is the host that requests within the process name. It is never connected to.
const inside = "127.0.0.1"

// maxAnswer bounds an answer of the door, all of which is held.
const maxAnswer = 4 << 20

var errTooLong = fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)

// within carries requests to a handler in this process, as the user of another request. It is an http.RoundTripper.
type within struct {
	door http.Handler
	as   *http.Request
}

// RoundTrip implements http.RoundTripper.
func (t *within) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	asked := r.Clone(r.Context())
	asUser(asked, t.as)
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	defer func() {
		v := recover()
		switch {
		case v == nil:
		case v != http.ErrAbortHandler:
			panic(v)
		case w.err != nil:
			answer, err = nil, w.err
		case r.Context().Err() != nil:
			answer, err = nil, r.Context().Err()
		default:
			answer, err = nil, errors.New("the answer broke off")
		}
	}()
	t.door.ServeHTTP(w, asked)
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
		Request: r}, nil
}

// asUser makes a request come from where another one came, and from its user.
func asUser(asked, as *http.Request) {
	asked.RemoteAddr, asked.TLS, asked.RequestURI = as.RemoteAddr, as.TLS, asked.URL.RequestURI()
	if secret := as.Header.Get("Authorization"); secret != "" {
		asked.Header.Set("Authorization", secret)
	}
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	began  bool
	body   bytes.Buffer
	err    error
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if !w.began {
		w.began, w.status = true, status
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.began = true
	if w.body.Len()+len(p) > maxAnswer {
		w.err = errTooLong
		return 0, errTooLong
	}
	return w.body.Write(p)
}
