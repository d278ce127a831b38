package push

import "time"

// A Field is one header field. The name is in lower case, as HTTP/2 wants it.
type Field struct {
	Name, Value string
	Sensitive   bool // a secret: HPACK never puts it into a table, and no event or error shows it
}

// A Request is what Send sends. The client adds :scheme and :authority. It and what it refers to belong to the client
// from Send on and must not be changed any more, even after the answer: the request may still be on its way out when
// its deadline passes. Requests may share header slices and bodies.
type Request struct {
	Method, Path string
	Header       []Field // without pseudo-header fields and without fields about a connection
	Body         []byte
}

// A Response is the far end's answer. It belongs to the one who gets it.
type Response struct {
	Status    int     // 200 to 599
	Header    []Field // without :status, in the far end's order; trailers are dropped
	Body      []byte  // nil if there was none
	Truncated bool    // the body was longer than Config.MaxResponseBody; the rest was given up
}

// Get gives the value of the first field of that name in lower case, or "".
func (r *Response) Get(name string) string {
	for i := range r.Header {
		if r.Header[i].Name == name {
			return r.Header[i].Value
		}
	}
	return ""
}

// A Result is how a Send ended: with a Response, or with an Err.
type Result struct {
	Response *Response
	Err      error // see the errors of this package; nil when Response is set

	// Sent is when the last byte was handed to the network, by the client's clock; zero if that never happened.
	Sent time.Time

	// Connection is the number of the connection that answered, or that had the request when it ended, as in Event; 0:
	// none had it.
	Connection int

	// Unprocessed, with an Err, says that the far end surely did not act upon the request: it said so, or the request
	// did not leave whole. Such a request may be sent again without doubling anything. Without it the request may have
	// been acted upon.
	Unprocessed bool
}
