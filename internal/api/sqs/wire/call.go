package wire

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

// Protocol is how a client speaks.
type Protocol uint8

const (
	// JSON is AWS JSON 1.0: the action in X-Amz-Target, JSON in the body and in the answer.
	JSON Protocol = iota
	// Query is the older one: a form, or a query string, and XML in the answer.
	Query
)

// String names the protocol.
func (p Protocol) String() string {
	if p == Query {
		return "query"
	}
	return "json"
}

// Call is a request with what is needed to answer it.
type Call struct {
	Protocol  Protocol
	Action    Action // "": it is not known, and an Error tells so
	Request   Request
	RequestID string // made by Decode
	InJSON    bool   // of the query protocol: the client wants the answer in JSON
}

// The types of answers.
const (
	typeJSON  = "application/x-amz-json-1.0"
	typeXML   = "text/xml"
	typePlain = "application/json" // of the query protocol, for clients that ask for it by this name
)

// ContentType is the type of the answer.
func (c *Call) ContentType() string {
	switch {
	case c.Protocol == JSON:
		return typeJSON
	case c.InJSON:
		return typePlain
	}
	return typeXML
}

// WantsJSON tells whether a request asks for JSON whatever protocol it is of.
func WantsJSON(r *http.Request) bool { return r.Header.Get("Accept") == typePlain }

// NewRequestID makes a request id: a random UUID, which nobody has to be unable to guess.
func NewRequestID() string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], rand.Uint64())
	binary.BigEndian.PutUint64(raw[8:], rand.Uint64())
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[:], raw[:4])
	text[8] = '-'
	hex.Encode(text[9:], raw[4:6])
	text[13] = '-'
	hex.Encode(text[14:], raw[6:8])
	text[18] = '-'
	hex.Encode(text[19:], raw[8:10])
	text[23] = '-'
	hex.Encode(text[24:], raw[10:])
	return string(text[:])
}
