package rest

import (
	"bytes"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/door"
)

// answer lets what the transcoder answers through when it is a success, and turns an error into a problem.
type answer struct {
	to     http.ResponseWriter
	body   *boundedBody // of the request
	hold   *door.Hold   // of the bytes of request and answer
	status int          // 0: nothing was answered yet
	failed bytes.Buffer // the body of an error
	wants  *wishes
	made   bytes.Buffer // the body of a success that is not sent as it comes
	note   *noted
}

// largeAnswer is from where on an answer counts while it is written.
const largeAnswer = 32 << 10

// shapeCost is what it takes to choose fields of an answer, in its own length.
const shapeCost = 8

// maxProblemBytes is how much of an error's text is kept.
const maxProblemBytes = 64 << 10

func (a *answer) Header() http.Header { return a.to.Header() }

func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	a.status = status
	if status == http.StatusOK && a.wants.plain() {
		tidy(a.Header())
		a.Header().Set("Content-Type", contentType)
		a.to.WriteHeader(status)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.status == http.StatusOK {
		// it is there already, and its messages are claimed: it is counted whether there is room or not
		if len(p) > largeAnswer {
			a.hold.Owe(2 * int64(len(p)))
		}
		if !a.wants.plain() {
			a.hold.Owe(shapeCost * int64(len(p)))
			return a.made.Write(p)
		}
		return a.to.Write(p)
	}
	if room := maxProblemBytes - a.failed.Len(); len(p) > room {
		a.failed.Write(p[:room])
	} else {
		a.failed.Write(p)
	}
	return len(p), nil
}

// Flush is what the transcoder wants of a writer. An error is written at the end.
func (a *answer) Flush() {
	if f, ok := a.to.(http.Flusher); ok && a.status == http.StatusOK && a.wants.plain() {
		f.Flush()
	}
}

// finish writes the problem if there is one, and tells with what the request was answered. The handlers have returned
// by now.
func (a *answer) finish() codes.Code {
	switch {
	case a.status == http.StatusOK && a.wants.plain():
		return codes.OK
	case a.status == http.StatusOK:
		return a.shaped()
	case a.body.exceeded():
		tidy(a.Header())
		return a.body.tooLarge().write(a.to)
	case a.status == 0: // the client went away before there was an answer
		return codes.Canceled
	}
	tidy(a.Header())
	p := problemOf(a.status, a.failed.Bytes())
	if p.code == codes.Unknown && !a.note.delivered.Load() {
		p = problem{code: codes.InvalidArgument, message: "the request cannot be read: " + withoutOrigin(p.message)}
	}
	return p.write(a.to)
}

// shaped sends a success as its client wants it.
func (a *answer) shaped() codes.Code {
	tidy(a.Header())
	body, err := a.wants.shape(a.made.Bytes())
	if err != nil {
		return problem{code: codes.Internal, message: "the answer cannot be shown: " + err.Error()}.write(a.to)
	}
	a.Header().Set("Content-Type", contentType)
	a.to.WriteHeader(http.StatusOK)
	_, _ = a.to.Write(body) // the client is gone if this fails
	return codes.OK
}

// withoutOrigin is the text of an error without the name of the library that it comes from.
func withoutOrigin(text string) string {
	rest, theirs := strings.CutPrefix(text, "proto:")
	if !theirs {
		return text
	}
	return strings.TrimLeft(rest, " \u00a0") // one or the other stands there, at random
}

// tidy removes the headers that are the transcoder's or gRPC's own business.
func tidy(header http.Header) {
	for name := range header {
		if strings.HasPrefix(name, "Grpc-") || strings.HasPrefix(name, http.TrailerPrefix) {
			delete(header, name)
		}
	}
	for _, name := range []string{"Accept-Encoding", "Content-Encoding", "Content-Length", "Trailer"} {
		header.Del(name)
	}
}
