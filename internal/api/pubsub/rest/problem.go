package rest

import (
	"encoding/json"
	"net/http"
	"strings"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // so that details can be shown as JSON
	"google.golang.org/grpc/codes"
)

// problem is an error as Google's services show it.
type problem struct {
	code    codes.Code
	http    int // 0: what belongs to code
	message string
	details []json.RawMessage
}

// httpStatus is what stands for each code, by google/rpc/code.proto.
var httpStatus = map[codes.Code]int{
	codes.Canceled: 499, codes.Unknown: 500, codes.InvalidArgument: 400, codes.DeadlineExceeded: 504,
	codes.NotFound:      404,
	codes.AlreadyExists: 409, codes.PermissionDenied: 403, codes.ResourceExhausted: 429, codes.FailedPrecondition: 400,
	codes.Aborted: 409, codes.OutOfRange: 400, codes.Unimplemented: 501, codes.Internal: 500, codes.Unavailable: 503,
	codes.DataLoss: 500, codes.Unauthenticated: 401,
}

// write answers with the problem, and returns its code.
func (p problem) write(w http.ResponseWriter) codes.Code {
	var body struct {
		Error struct {
			Code    int               `json:"code"`
			Message string            `json:"message"`
			Status  string            `json:"status"`
			Details []json.RawMessage `json:"details,omitempty"`
		} `json:"error"`
	}
	status := p.http
	if status == 0 {
		if status = httpStatus[p.code]; status == 0 {
			status = http.StatusInternalServerError
		}
	}
	body.Error.Code, body.Error.Message, body.Error.Details = status, p.message, p.details
	body.Error.Status = rpccode.Code(p.code).String()
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil { // a detail that is no JSON
		text = []byte(`{"error": {"code": 500, "message": "the error cannot be shown", "status": "INTERNAL"}}`)
		status = http.StatusInternalServerError
	}
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client is gone if this fails
	return p.code
}

// contentType is what every answer is.
const contentType = "application/json; charset=UTF-8"

// problemOf makes a problem of what the transcoder answered: a google.rpc.Status, a problem of ours, or a plain text.
func problemOf(status int, body []byte) problem {
	var s struct {
		Code    codes.Code        `json:"code"`
		Message string            `json:"message"`
		Details []json.RawMessage `json:"details"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err := json.Unmarshal(body, &s)
	if err == nil && s.Code != codes.OK {
		return problem{code: s.Code, message: s.Message, details: s.Details}
	}
	p := problem{http: status, message: s.Error.Message}
	if err != nil || p.message == "" {
		p.message = strings.TrimSpace(string(body))
	}
	if p.message == "" {
		p.message = http.StatusText(status)
	}
	switch status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		p.code, p.http = codes.InvalidArgument, 0
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		p.code = codes.NotFound
	default:
		p.code = codes.Internal
	}
	return p
}
