package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Problem is an error as the door tells it: application/problem+json of RFC 9457 with a hint. It is what Client's
// errors are; errors.Is finds the queue error behind it.
type Problem struct {
	Type   string `json:"type"` // "urn:hikyaku:" and a word that stays the same
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// of "not-ready": the word of the problem that a put would be answered with
	Reason      string       `json:"reason,omitempty"`
	Position    *Position    `json:"position,omitempty"`
	Column      string       `json:"column,omitempty"` // of the queue, that a message does not fit
	Differences []Difference `json:"differences,omitempty"`

	retryAfter int // seconds, for the header
}

// Position is the place in a text (a condition, a JSON body) that a problem is about.
type Position struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`           // in characters, from 1
	Offset int    `json:"offset"`           // in bytes, from 0
	Pretty string `json:"pretty,omitempty"` // the line with a caret below the place
}

// Difference is one field of two definitions.
type Difference struct {
	Field  string `json:"field"`
	Have   string `json:"have"`
	Wanted string `json:"wanted"`
}

// Error is the detail with the hint.
func (p *Problem) Error() string {
	s := p.Detail
	if s == "" {
		s = p.Title
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Is finds the error of package queue that the problem tells of.
func (p *Problem) Is(target error) bool {
	for _, k := range kinds {
		if k.err != nil && k.err == target {
			return p.Type == urn+k.word || target == queue.ErrNotFound && p.Type == urn+noSnapshot.word
		}
	}
	return false
}

// urn stands before the word of every problem's type.
const urn = "urn:hikyaku:"

// kind is one row of the table from errors to problems.
type kind struct {
	err        error // nil for the door's own
	word       string
	title      string
	status     int
	hint       string
	retryAfter int
}

// kinds is searched from the top: what is more particular stands first.
var kinds = []kind{
	{queue.ErrBadName, "bad-name", "Not a name", 400, "", 0},
	{queue.ErrBadToken, "bad-token", "Not a claim token", 400, "send the token of a claim as it was received", 0},
	{queue.ErrCondition, "bad-condition", "Condition is not valid", 400, "", 0},
	{queue.ErrNotFound, "not-found", "No such queue or topic", 404, "create it with PUT, or see what there is with " +
		"GET /{namespace}/queues", 0},
	{queue.ErrExists, "exists", "Already exists with another definition", 409,
		"change it with PATCH, or delete it first", 0},
	{queue.ErrProtected, "protected", "Queue is protected from changes", 409, "", 0},
	{queue.ErrSnapshot, "snapshot-exists", "There is a snapshot of that name", 409,
		"choose another name, or delete that one first", 0},
	{queue.ErrStale, "stale", "Claim is no longer valid", 410, "the message may be handed out again: claim with a " +
		"longer lease, or extend it in time", 0},
	{queue.ErrTooLarge, "too-large", "Message is too large", 413, "", 0},
	{queue.ErrDefinition, "bad-definition", "Definition is not valid", 422, "", 0},
	{queue.ErrUnheard, "no-subscription", "Topic has no subscription", 409,
		"make one: PUT /{namespace}/topics/{topic}/subscriptions/{name}", 0},
	{queue.ErrMismatch, "mismatch", "Message does not fit the queue's columns", 422,
		`send {"json": {…}} with the queue's columns; GET the queue to see them`, 0},
	{queue.ErrQueueFull, "queue-full", "Queue full", 429, "", 1},
	{queue.ErrTooManyWaiters, "too-many-waiters", "Too many waiting readers", 503,
		"try again later, or wait with fewer connections", 1},
	{queue.ErrNoRoom, "no-room", "No room on the disk", 507, "make room; claims, settling and purging still work", 10},
	{queue.ErrRefused, "refused", "Journal could not take it, and kept nothing", 503,
		"try again; the log of the server says why", 1},
	{queue.ErrStalled, "stalled", "Disk does not answer", 503,
		"puts wait until it does; see the log of the server", 1},
	{journal.ErrLost, "moved", "Store is another node's by now", 503, "try again", 1},
	{journal.ErrReopen, "reopening", "Journal is being opened again", 503,
		"try again; what this was the answer to may have been done all the same", 1},
	{queue.ErrUnavailable, "unavailable", "Store is unavailable until a restart", 503,
		"see the log of the server for the cause, and restart it", 10},
	{campaign.ErrNotFound, "no-such-campaign", "No such campaign", 404,
		"see what there is with GET /{namespace}/campaigns", 0},
	{campaign.ErrState, "campaign-over", "Campaign is over", 409, "", 0},
	{campaign.ErrOther, "other-campaign", "Key belongs to another campaign", 409,
		"choose another key, or order the same", 0},
	{campaign.ErrTooMany, "too-many-campaigns", "Too many campaigns", 429, "cancel some, or wait until some are done",
		10},
	{campaign.ErrOrder, "bad-campaign", "Campaign is not valid", 422, "", 0},
	{queue.ErrClosed, "closed", "Server is stopping", 503, "", 1},
	{door.ErrBusy, busy.word, busy.title, busy.status, busy.hint, busy.retryAfter},
	{context.Canceled, "canceled", "Request was given up", 503, "", 1},
	{context.DeadlineExceeded, "timeout", "Took too long", 504, "", 1},
}

// The door's own problems.
var (
	badRequest = kind{nil, "bad-request", "Request is not valid", 400, "", 0}
	slowed     = kind{nil, "slowed", "Too many logins have failed", 429, "wait as long as Retry-After says; who " +
		"has come in from this address before is not held up", 0}
	unauthenticated = kind{nil, "unauthenticated", "Who are you?", 401, "send Authorization: Bearer SECRET, or a " +
		"user's name and secret as Basic", 0}
	forbidden   = kind{nil, "forbidden", "Not granted", 403, "", 0}
	crossOrigin = kind{nil, "cross-origin", "Request of another web site", 403, "", 0}
	noPath      = kind{nil, "no-such-path", "No such path", 404, "GET /openapi.yaml describes every path", 0}
	noSnapshot  = kind{nil, "no-such-snapshot", "No such snapshot", 404,
		"see what there is with GET /{namespace}/snapshots", 0}
	noSink  = kind{nil, "no-such-sink", "No such sink", 404, "see what there is with GET /-/push/dead", 0}
	noTrace = kind{nil, "not-traced", "Journey is not known", 404,
		"journeys are in memory: a restart ends them", 0}
	noComponent   = kind{nil, "no-such-component", "No such component", 404, "see what there is with GET /-/top", 0}
	noFunction    = kind{nil, "no-such-function", "No such function", 404, "see what there is with GET /-/functions", 0}
	badFunction   = kind{nil, "bad-function", "Function cannot run", 422, "", 0}
	throttled     = kind{nil, "throttled", "Too many invocations at once", 429, "try again later", 1}
	noTap         = kind{nil, "not-tapped", "Nothing to tap", 404, "see what there is with GET /-/top", 0}
	noPast        = kind{nil, "not-recorded", "Nothing is recorded of it", 404, "see what there is with GET /-/top", 0}
	tooManyTaps   = kind{nil, "too-many-taps", "Too many taps are open", 429, "end another one", 1}
	tooManyPushes = kind{nil, "too-many-pushes", "Too many pushes are under way", 429,
		"try again later, or publish to the queue that the sink takes from", 1}
	badConfiguration = kind{nil, "bad-configuration", "Configuration is not taken", 422,
		"all settings stay as they were", 0}
	noReload = kind{nil, "no-configuration", "There is no configuration to read again", 409,
		"start hikyaku serve with -c FILE", 0}
	badMethod    = kind{nil, "bad-method", "Method is not for this path", 405, "", 0}
	bodyTimeout  = kind{nil, "body-timeout", "Body did not arrive in time", 408, "", 0}
	bodyTooLarge = kind{nil, "too-large", "Request is too large", 413, "send fewer messages at once, or each as a " +
		"line of application/x-ndjson", 0}
	badType  = kind{nil, "bad-content-type", "Content-Type is not taken", 415, "", 0}
	internal = kind{nil, "internal", "Something went wrong in the server", 500, "", 0}
	notReady = kind{nil, "not-ready", "Not ready", 503, "", 1}
	busy     = kind{nil, "busy", "Too much is being sent and answered at once", 503, "try again", 1}
)

func (k kind) problem(detail string) *Problem {
	return &Problem{Type: urn + k.word, Title: k.title, Status: k.status, Detail: detail, Hint: k.hint,
		retryAfter: k.retryAfter}
}

func (k kind) problemf(format string, args ...any) *Problem {
	return k.problem(fmt.Sprintf(format, args...))
}

// withHint replaces the hint of the kind.
func (p *Problem) withHint(hint string) *Problem {
	p.Hint = hint
	return p
}

// problemOf tells an error as a problem. What is not in the table is an internal one, whose text stays inside: ok is
// false.
func problemOf(err error) (p *Problem, ok bool) {
	if errors.As(err, &p) {
		return p, true
	}
	var c *condition.Error
	if errors.As(err, &c) && !errors.Is(err, queue.ErrDefinition) {
		return conditionProblem(c), true
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			p = k.problem(err.Error())
			addDetails(p, err)
			return p, true
		}
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return bodyTooLarge.problemf("the body is larger than %d bytes", tooLarge.Limit), true
	}
	return internal.problem(""), false
}

func conditionProblem(c *condition.Error) *Problem {
	p := problemFor(queue.ErrCondition).problem(c.Message).withHint(c.Hint)
	p.Position = &Position{Line: c.Line, Column: c.Column, Offset: c.Offset, Pretty: c.Pretty()}
	return p
}

func problemFor(err error) kind {
	for _, k := range kinds {
		if k.err == err {
			return k
		}
	}
	return internal
}

// addDetails adds what typed errors know.
func addDetails(p *Problem, err error) {
	var c *condition.Error
	if errors.As(err, &c) { // within a definition
		p.Position = &Position{Line: c.Line, Column: c.Column, Offset: c.Offset, Pretty: c.Pretty()}
		p.Hint = c.Hint
	}
	var column *message.ColumnError
	if errors.As(err, &column) {
		p.Column = column.Column
	}
	var different *queue.DifferentError
	if errors.As(err, &different) {
		for _, d := range different.Differences {
			p.Differences = append(p.Differences, Difference(d))
		}
	}
}

// problemType is the media type of problems.
const problemType = "application/problem+json"

// write sends the problem as the answer.
func (p *Problem) write(w http.ResponseWriter) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("Cache-Control", "no-store")
	if p.retryAfter > 0 {
		h.Set("Retry-After", fmt.Sprint(p.retryAfter))
	}
	w.WriteHeader(p.Status)
	_, err = w.Write(append(data, '\n'))
	return err
}
