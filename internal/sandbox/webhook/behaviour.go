package webhook

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Kind is what a Receiver does with a request.
type Kind string

const (
	Accept   Kind = "accept"   // counts the message and answers 200
	Status   Kind = "status"   // answers Code, with RetryAfter if set; below 300 it counts the message
	Hang     Kind = "hang"     // never answers; the request ends when the client gives up
	Reset    Kind = "reset"    // breaks the connection without an answer
	Garbage  Kind = "garbage"  // answers with bytes that are not HTTP
	Slow     Kind = "slow"     // accepts after Delay
	Trickle  Kind = "trickle"  // accepts at once, then sends a body without an end, a byte each Delay
	Half     Kind = "half"     // counts the message, announces a long body, and breaks the connection within it
	Forget   Kind = "forget"   // counts the message and breaks the connection: delivered, but the sender cannot know
	Redirect Kind = "redirect" // answers Code (0: 307) with Location
)

var kinds = []Kind{Accept, Status, Hang, Reset, Garbage, Slow, Trickle, Half, Forget, Redirect}

// Behaviour says how requests are answered.
type Behaviour struct {
	Do         Kind     `json:"do"`
	Code       int      `json:"code,omitempty"`
	RetryAfter string   `json:"retry_after,omitempty"` // as it stands in the header
	Body       string   `json:"body,omitempty"`        // of the answer
	Location   string   `json:"location,omitempty"`
	Delay      Duration `json:"delay,omitempty"`
}

// Duration is a time.Duration that JSON writes as "30s".
type Duration time.Duration

// MarshalText writes Go's form of a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads Go's form of a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// check says what is wrong with a Behaviour, and fills in what was left out.
func (b *Behaviour) check() error {
	if b.Do == "" {
		b.Do = Accept
	}
	if !slices.Contains(kinds, b.Do) {
		return fmt.Errorf("%q is nothing a receiver can do: it knows %v", b.Do, kinds)
	}
	if b.Code == 0 {
		b.Code = map[Kind]int{Status: http.StatusInternalServerError, Redirect: http.StatusTemporaryRedirect}[b.Do]
	}
	if b.Code != 0 && (b.Code < 200 || b.Code > 999) {
		return fmt.Errorf("%d is no final status", b.Code)
	}
	if b.Delay <= 0 {
		b.Delay = Duration(100 * time.Millisecond)
	}
	return nil
}

// asked reads the behaviour that a request asks for in its query.
func asked(q url.Values) (b Behaviour, ok bool, err error) {
	if !q.Has("do") {
		return b, false, nil
	}
	b = Behaviour{Do: Kind(q.Get("do")), RetryAfter: q.Get("retry_after"), Body: q.Get("body"),
		Location: q.Get("location")}
	if code := q.Get("code"); code != "" {
		if b.Code, err = strconv.Atoi(code); err != nil {
			return b, true, fmt.Errorf("code=%s is not a number", code)
		}
	}
	if delay := q.Get("delay"); delay != "" {
		if err := b.Delay.UnmarshalText([]byte(delay)); err != nil {
			return b, true, err
		}
	}
	return b, true, b.check()
}
