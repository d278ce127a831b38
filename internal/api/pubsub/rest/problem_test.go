package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// shown is an error as a client reads it.
type shown struct {
	Error struct {
		Code    int
		Message string
		Status  string
		Details []map[string]any
	}
}

// refused checks that an answer is an error of this kind, with words in its message.
func refused(t *testing.T, what string, got int, body string, header http.Header, code int, name, words string) shown {
	t.Helper()
	var s shown
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatalf("%s: %v: %q", what, err, body)
	}
	if got != code || s.Error.Code != code || s.Error.Status != name || !strings.Contains(s.Error.Message, words) ||
		strings.Contains(s.Error.Message, `"error"`) {
		t.Errorf("%s: %d %s\nwanted %d %s with %q", what, got, body, code, name, words)
	}
	if kind := header.Get("Content-Type"); kind != "application/json; charset=UTF-8" {
		t.Errorf("%s: Content-Type %s", what, kind)
	}
	return s
}

func TestErrorsOfTheServiceAreShownAsGoogleShowsThem(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	for code, want := range map[codes.Code]int{
		codes.Canceled: 499, codes.Unknown: 500, codes.InvalidArgument: 400, codes.DeadlineExceeded: 504,
		codes.NotFound: 404, codes.AlreadyExists: 409,
		codes.PermissionDenied: 403, codes.ResourceExhausted: 429, codes.FailedPrecondition: 400, codes.Aborted: 409,
		codes.OutOfRange:    400,
		codes.Unimplemented: 501, codes.Internal: 500, codes.Unavailable: 503, codes.DataLoss: 500,
		codes.Unauthenticated: 401,
	} {
		s.err = failing(t, code, "Resource not found (resource=飛脚).")
		got, body, header := call(t, front, "GET", "/v1/projects/p/topics/t", "")
		e := refused(t, code.String(), got, body, header, want, rpccode.Code(code).String(),
			"Resource not found (resource=飛脚).")
		if len(e.Error.Details) != 1 || e.Error.Details[0]["@type"] != "type.googleapis.com/google.rpc.ErrorInfo" ||
			e.Error.Details[0]["reason"] != "WHY" {
			t.Errorf("%s: details %v", code, e.Error.Details)
		}
		if challenge := header.Get("WWW-Authenticate"); (challenge == "Bearer") != (code == codes.Unauthenticated) {
			t.Errorf("%s: WWW-Authenticate %q", code, challenge)
		}
	}
}

func TestAnErrorWithoutDetailsHasNone(t *testing.T) {
	s := &service{err: status.Error(codes.NotFound, "gone")}
	front := start(t, s, rest.Options{})
	_, body, _ := call(t, front, "GET", "/v1/projects/p/topics/t", "")
	if got, want := compact(t, body), `{"error":{"code":404,"message":"gone","status":"NOT_FOUND"}}`; got != want {
		t.Errorf("%s", got)
	}
}

func TestRequestsThatAreNoCallsAreRefused(t *testing.T) {
	front := start(t, &service{}, rest.Options{MaxBodyBytes: 1000})
	long := `{"messages": [{"data": "` + strings.Repeat("A", 1000) + `"}]}`
	const publish = "/v1/projects/p/topics/t:publish"
	typed := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		method, path, body string
		edit               func(*http.Request)
		code               int
		status, words      string
	}{
		{"GET", "/", "", nil, 404, "NOT_FOUND", "GET / is no call"},
		{"GET", "/v1", "", nil, 404, "NOT_FOUND", "GET /v1"},
		{"GET", "/v2/projects/p/topics", "", nil, 404, "NOT_FOUND", "GET /v2/projects/p/topics"},
		{"GET", "/v1/projects/p/nothing", "", nil, 404, "NOT_FOUND", "is no call"},
		{"POST", "/v1/projects/p/topics/t:shout", "{}", nil, 404, "NOT_FOUND", "is no call"},
		{"POST", "/v1/projects/p/subscriptions/s:streamingPull", "{}", nil, 404, "NOT_FOUND", "is no call"},
		{"POST", "/google.pubsub.v1.Publisher/Publish", "{}", nil, 404, "NOT_FOUND", "is no call"},
		{"POST", "/google.pubsub.v1.Publisher/Publish", "{}", typed("Connect-Protocol-Version", "1"), 404, "NOT_FOUND",
			"is no call"},
		{"POST", "/v1/projects/p/topics/t", "{}", nil, 405, "NOT_FOUND", "Method Not Allowed"},
		{"POST", publish, `{"messages": [`, nil, 400, "INVALID_ARGUMENT", "unexpected"},
		{"POST", publish, `{"massages": []}`, nil, 400, "INVALID_ARGUMENT", `unknown field "massages"`},
		{"POST", publish, `{"messages": [{"data": "*"}]}`, nil, 400, "INVALID_ARGUMENT", "data"},
		{"POST", publish, `[]`, nil, 400, "INVALID_ARGUMENT", ""},
		{"GET", "/v1/projects/p/topics?pageSise=3", "", nil, 400, "INVALID_ARGUMENT", "pageSise"},
		{"GET", "/v1/projects/p/topics?pageSize=many", "", nil, 400, "INVALID_ARGUMENT", "page_size"},
		{"GET", "/v1/projects/p/topics?%zz", "", nil, 400, "INVALID_ARGUMENT", "query"},
		{"GET", "/v1/projects/p/topics?alt=proto", "", nil, 400, "INVALID_ARGUMENT", "alt=proto"},
		{"GET", "/v1/projects/p/topics?callback=f", "", nil, 400, "INVALID_ARGUMENT", "callback"},
		{"GET", "/v1/projects/p/topics", "{}", nil, 400, "INVALID_ARGUMENT", "no body"},
		{"POST", publish, "{}", typed("Content-Type", "application/x-protobuf"), 400, "INVALID_ARGUMENT",
			"application/x-protobuf"},
		{"POST", publish, "{}", typed("Content-Encoding", "br"), 400, "INVALID_ARGUMENT", `"br"`},
		{"POST", publish, "no gzip", gzipped, 400, "INVALID_ARGUMENT", "gzip"},
		{"POST", publish, long, nil, 400, "INVALID_ARGUMENT", "exceeds the limit: 1000 bytes"},
		{"POST", publish, long, func(r *http.Request) { r.ContentLength, r.Body = -1, io.NopCloser(r.Body) }, 400,
			"INVALID_ARGUMENT", "exceeds the limit"},
		{"POST", publish, doortest.Packed(t, long), gzipped, 400, "INVALID_ARGUMENT", "exceeds the limit"},
		{"POST", publish, "{}", typed("Sec-Fetch-Site", "cross-site"), 403, "PERMISSION_DENIED", "another origin"},
		{"POST", publish, "{}", typed("Origin", "https://example.com"), 403, "PERMISSION_DENIED", "another origin"},
		{"GET", "/v1/projects/p/snapshots/s", "", nil, 501, "UNIMPLEMENTED", "GetSnapshot"},
	} {
		var edits []func(*http.Request)
		if c.edit != nil {
			edits = append(edits, c.edit)
		}
		got, body, header := call(t, front, c.method, c.path, c.body, edits...)
		refused(t, fmt.Sprintf("%s %s %.40s", c.method, c.path, c.body), got, body, header, c.code, c.status, c.words)
	}
}
