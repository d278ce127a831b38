package farend

import (
	"crypto/tls"

	"golang.org/x/net/http2/hpack"
)

// Service is what a provider's server knows: which requests are right, and what it answers. Its methods are called from
// the goroutines of all connections at once.
type Service interface {
	// Serve checks a request and makes its answer. It neither waits nor keeps r or what r holds, but for strings.
	Serve(r *Request, a *Answer)
	// Refuse turns an answer into the refusal of that name, which Knows.
	Refuse(r *Request, a *Answer, reason string)
	// Knows returns nil for a reason that Refuse can make, and else an error that names those it can.
	Knows(reason string) error
}

// Request is a request whose body is complete.
type Request struct {
	Method, Path, Authority string
	From                    string // address and port of the client: which connection it came through
	// but for those that begin with a colon; names in lower case, in their order
	Fields []hpack.HeaderField
	Body   []byte // as much of it as MaxBody lets through, and a byte more
	TLS    *tls.ConnectionState
	Memory *Memory
}

// Memory is a place for what a service remembers of a connection. One request at a time uses it.
type Memory struct{ Value any }

// Get returns the first field of that name, "" when there is none.
func (r *Request) Get(name string) string {
	for i := range r.Fields {
		if r.Fields[i].Name == name {
			return r.Fields[i].Value
		}
	}
	return ""
}

// Trust is what a request's token says of its connection.
type Trust uint8

// What a token says.
const (
	NoToken Trust = iota
	Trusted
	Untrusted
)

// Answer is made by a Service. A status from 200 to 299 without a Reason accepts the message.
type Answer struct {
	Status int
	Fields []hpack.HeaderField
	Body   []byte
	// whom the message is for: rules for devices and counts go by it. "": a request that is no message and befalls no
	// fault
	Device string
	ID     string // tells messages apart. "": not counted by id
	Reason string // of a refusal, for the counts
	Trust  Trust
}

// Set adds a field. The name is in lower case.
func (a *Answer) Set(name, value string) {
	a.Fields = append(a.Fields, hpack.HeaderField{Name: name, Value: value})
}

// Clear makes it the empty answer again, keeping its memory.
func (a *Answer) Clear() {
	*a = Answer{Fields: a.Fields[:0], Body: a.Body[:0]}
}

func (a *Answer) accepted() bool { return a.Reason == "" && a.Status >= 200 && a.Status < 300 }
