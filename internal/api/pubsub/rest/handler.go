package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"connectrpc.com/vanguard"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hikyaku/hikyaku/internal/door"
)

// Options are the settings of a handler. The zero value has the defaults.
type Options struct {
	Busy         *door.Busy    // what requests and answers may take; nil: there is no bound
	Traffic      *door.Traffic // counts requests and those that wait; nil: nobody does
	MaxBodyBytes int64         // of one request, as sent and unpacked; 0: DefaultMaxBodyBytes
}

// DefaultMaxBodyBytes has room for the largest publish, 10 MB, in base64.
const DefaultMaxBodyBytes = 16 << 20

// ErrServices: the handler cannot be made for the server's services.
var ErrServices = errors.New("rest: these services have no REST form")

// handler is what New makes.
type handler struct {
	transcoders map[format]http.Handler
	origins     *http.CrossOriginProtection
	maxBody     int64
	busy        *door.Busy
	traffic     *door.Traffic
}

// New makes the handler for services, which are all registered by now. It may be used by any number of goroutines.
func New(services *Services, o Options) (http.Handler, error) {
	if o.MaxBodyBytes < 0 || o.MaxBodyBytes > 1<<30 {
		return nil, fmt.Errorf("rest: MaxBodyBytes is %d; 0 to 1 GiB are possible", o.MaxBodyBytes)
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = DefaultMaxBodyBytes
	}
	h := &handler{transcoders: map[format]http.Handler{}, origins: http.NewCrossOriginProtection(),
		maxBody: o.MaxBodyBytes, busy: o.Busy, traffic: o.Traffic}
	for _, f := range []format{{}, {enumNumbers: true}, {defaults: true}, {enumNumbers: true, defaults: true}} {
		var err error
		if h.transcoders[f], err = transcoder(services, f); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// transcoder is what makes calls of requests.
func transcoder(services *Services, f format) (http.Handler, error) {
	options := []vanguard.TranscoderOption{
		vanguard.WithCodec(func(types vanguard.TypeResolver) vanguard.Codec { return newJSON(types, f) }),
		vanguard.WithDefaultServiceOptions(
			vanguard.WithTargetProtocols(vanguard.ProtocolGRPC),
			vanguard.WithTargetCodecs(vanguard.CodecProto),
			vanguard.WithMaxMessageBufferBytes(2<<30), // requests are bounded here, answers by the services
		),
		vanguard.WithUnknownHandler(http.HandlerFunc(unknown)),
	}
	if slices.Contains(services.names, "google.iam.v1.IAMPolicy") {
		options = append(options, vanguard.WithRules(getIAMPolicy()))
	}
	var all []*vanguard.Service
	for _, name := range services.names {
		all = append(all, vanguard.NewService(name, watched(services)))
	}
	made, err := vanguard.NewTranscoder(all, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServices, err)
	}
	return made, nil
}

// noted is what watched notes of a request.
type noted struct {
	call      string      // the method that was called; empty: none
	delivered atomic.Bool // the service was given the request
}

type notedKey struct{}

// Counts tells, of a call's context, that it came by this form, which has taken room for its body and counts the
// request.
func Counts(ctx context.Context) bool {
	_, ok := ctx.Value(notedKey{}).(*noted)
	return ok
}

// watched is the server with an eye on the request that it reads. The transcoder makes that while it is being read, and
// what is wrong with the original looks like an error of the service, but for this: the service was given nothing.
func watched(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if note, ok := r.Context().Value(notedKey{}).(*noted); ok {
			note.call = path.Base(r.URL.Path)
			r.Body = &watchedBody{ReadCloser: r.Body, delivered: &note.delivered}
		}
		server.ServeHTTP(w, r)
	})
}

type watchedBody struct {
	io.ReadCloser
	delivered *atomic.Bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.delivered.Store(true)
	}
	return n, err
}

// newJSON is JSON as Google's services speak it.
func newJSON(types vanguard.TypeResolver, f format) vanguard.Codec {
	return leniently{&vanguard.JSONCodec{
		MarshalOptions: protojson.MarshalOptions{Resolver: types, UseEnumNumbers: f.enumNumbers,
			EmitDefaultValues: f.defaults},
		UnmarshalOptions: protojson.UnmarshalOptions{Resolver: types},
	}}
}

// getIAMPolicy lets a policy be read with GET, as Pub/Sub's description says; the annotation of the service common to
// all of Google's says POST.
func getIAMPolicy() *annotations.HttpRule {
	return &annotations.HttpRule{
		Selector: "google.iam.v1.IAMPolicy.GetIamPolicy",
		Pattern:  &annotations.HttpRule_Get{Get: "/v1/{resource=**}:getIamPolicy"},
	}
}

// unknown answers a path that no annotation has.
func unknown(w http.ResponseWriter, r *http.Request) {
	problem{code: codes.NotFound, message: fmt.Sprintf("%s %s is no call of this service", r.Method,
		r.URL.EscapedPath())}.write(w)
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	note := new(noted)
	code := h.serve(w, r, note)
	h.traffic.Ended(cmp.Or(note.call, "none"), code.String()) // what a client made up is no call
}

// serve answers a request and tells with what.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, note *noted) codes.Code {
	if err := h.origins.Check(r); err != nil {
		return problem{code: codes.PermissionDenied,
			message: "requests of pages of another origin are refused"}.write(w)
	}
	// the transcoder would also answer other protocols, by the services' names
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		unknown(w, r)
		return codes.NotFound
	}
	if wrong := override(w, r); wrong != nil {
		return wrong.write(w)
	}
	hold := door.Hold{Of: h.busy, Traffic: h.traffic}
	defer hold.End()
	wants, wrong := takeParameters(r)
	if wrong != nil {
		return wrong.write(w)
	}
	body, wrong := h.prepare(r, &hold)
	if wrong != nil {
		return wrong.write(w)
	}
	answer := &answer{to: w, body: body, hold: &hold, wants: &wants, note: note}
	h.transcoders[wants.format].ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), notedKey{}, note)))
	return answer.finish()
}
