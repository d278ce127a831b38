package main

import (
	"io"
	"net/http"
)

// plainBodies is an http.RoundTripper that hides the WriteTo of requests' bodies from net/http.
//
// The SDK closes the body of a request as soon as there is an answer, and its WriteTo fails with io.EOF from then on.
// net/http writes as much of a body as there should be, and then calls WriteTo to see whether more comes. If a fast
// server has answered by then, net/http takes the request for failed and closes the connection; what it has not read of
// the answer is lost ("use of closed network connection"). Of a closed body, Read says that it has ended, which is
// right.
type plainBodies struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return p.next.RoundTrip(r)
	}
	plain := r.Clone(r.Context())
	plain.Body = struct{ io.ReadCloser }{r.Body}
	return p.next.RoundTrip(plain)
}
