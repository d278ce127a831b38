package rest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/door"
)

// prepare makes a request one that the transcoder understands: parameters that belong to no message are taken out, the
// type of the body is JSON, the body is unpacked and bounded.
func (h *handler) prepare(r *http.Request, hold *door.Hold) (*boundedBody, *problem) {
	if wrong := jsonType(r.Header); wrong != nil {
		return nil, wrong
	}
	// The transcoder takes the path's escapes off itself, after it has split the path.
	r.URL.Path = r.URL.EscapedPath()
	// What it would do with these is nothing that a client of REST wants: compressed answers whatever their size, other
	// protocols.
	for _, name := range []string{"Accept-Encoding", "Connect-Protocol-Version"} {
		r.Header.Del(name)
	}
	body := &boundedBody{reader: r.Body, closer: r.Body, left: h.maxBody, limit: h.maxBody}
	if r.ContentLength > h.maxBody {
		return nil, body.tooLarge()
	}
	if wrong := h.read(r, hold, body); wrong != nil {
		return nil, wrong
	}
	r.Header.Del("Content-Encoding")
	r.Body = body
	return body, nil
}

const (
	// What a large body takes while it is worked on, in its own length: as it came, as a message of Protocol Buffers,
	// encoded, as pieces on the way to the call, in one piece, as its message, and what the journal writes of it.
	bodyCost, bodyGrowing = 7, 9
	// What a body that is packed takes as it came.
	packedCost, packedGrowing = 1, 2
)

// valueWeight is what becomes of values: an object is a message of Protocol Buffers, and a member of a map two values.
var valueWeight = door.Weight{Value: 64, Object: 192}

// read reads the whole body when there is room for what is made of it. One that is packed takes room for what it
// becomes as it is unpacked, and does not wait for that: it holds some already.
func (h *handler) read(r *http.Request, hold *door.Hold, into *boundedBody) *problem {
	b := door.Body{Hold: hold, Most: h.maxBody, Cost: bodyCost, Growing: bodyGrowing}
	var data []byte
	var err error
	switch packing := r.Header.Get("Content-Encoding"); packing {
	case "", "identity":
		data, err = b.Read(r.Context(), r)
	case "gzip":
		as := b
		as.Cost, as.Growing = packedCost, packedGrowing
		if data, err = as.Read(r.Context(), r); err == nil && len(data) > 0 {
			data, err = unpack(&b, data)
			r.ContentLength = int64(len(data))
		}
	default:
		return &problem{code: codes.InvalidArgument,
			message: fmt.Sprintf("Content-Encoding %q is not supported; gzip is", packing)}
	}
	if err == nil {
		err = hold.Values(data, valueWeight)
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		if r.Method == http.MethodPost && nothing(data) {
			data, r.ContentLength = nil, 0
		}
		into.reader = bytes.NewReader(data)
		return nil
	case errors.As(err, &large):
		return into.tooLarge()
	case errors.Is(err, door.ErrNeverFits):
		return &problem{code: codes.InvalidArgument, message: err.Error()}
	case errors.Is(err, door.ErrBusy):
		return &problem{code: codes.ResourceExhausted, message: err.Error()}
	}
	return &problem{code: codes.InvalidArgument, message: "the body of the request could not be read: " + err.Error()}
}

// nothing tells whether the body of a POST says as much as none: an object without members, or the empty text, which
// Google's library for Node sends where the call's description has no body.
func nothing(body []byte) bool {
	body = bytes.TrimSpace(body)
	inside, isObject := bytes.CutPrefix(body, []byte("{"))
	return string(body) == `""` || isObject && string(bytes.TrimSpace(inside)) == "}"
}

// unpack makes a body of its gzip.
func unpack(b *door.Body, packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("it is no gzip: %w", err)
	}
	return b.Whole(r)
}

// jsonType gives the body the type of JSON, whatever curl or a browser calls it.
func jsonType(header http.Header) *problem {
	given := header.Get("Content-Type")
	if given == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(given)
	if err != nil {
		media = given
	}
	switch media {
	case "application/json", "text/json", "text/plain", "application/x-www-form-urlencoded":
		header["Content-Type"] = []string{"application/json"}
		return nil
	}
	return &problem{code: codes.InvalidArgument,
		message: fmt.Sprintf("Content-Type %q is not supported; a body is application/json", given)}
}

// boundedBody is a body of which no more is read than a request may have.
type boundedBody struct {
	reader      io.Reader
	closer      io.Closer
	left, limit int64 // left is negative when there was more
}

var errBodyTooLarge = errors.New("the body is too large")

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errBodyTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errBodyTooLarge
	}
	return n, err
}

func (b *boundedBody) Close() error { return b.closer.Close() }

// exceeded tells whether there was more in the body than may be.
func (b *boundedBody) exceeded() bool { return b.left < 0 }

func (b *boundedBody) tooLarge() *problem {
	return &problem{code: codes.InvalidArgument,
		message: fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", b.limit)}
}
