package webhook

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	reasonBytes = 200 // of what the far end said
	// MaxRetryAfter bounds the wait that a far end can ask for.
	MaxRetryAfter = 24 * time.Hour
)

// judge reads an answer.
func (s *Sink) judge(resp *http.Response, said []byte) component.Outcome {
	code := resp.StatusCode
	if code >= 200 && code < 300 {
		return component.Outcome{}
	}
	reason := s.reason(resp, said)
	switch {
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		o := component.Again(retryAfter(resp.Header.Get("Retry-After"), time.Now()), reason)
		o.Slow = true
		return o
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code >= 500:
		return component.Again(retryAfter(resp.Header.Get("Retry-After"), time.Now()), reason)
	}
	return component.Reject(reason)
}

func (s *Sink) reason(resp *http.Response, said []byte) error {
	text := fmt.Sprintf("%s answered %d %s", s.target(), resp.StatusCode, http.StatusText(resp.StatusCode))
	if to, err := url.Parse(resp.Header.Get("Location")); resp.StatusCode/100 == 3 && err == nil && to.Host != "" {
		text += " to " + to.Scheme + "://" + to.Host + ": it is not followed; if that is the right place, set url to it"
	}
	if quote := s.quote(said); quote != "" {
		text += ": " + quote
	}
	return fmt.Errorf("%s", strings.TrimRight(text, " "))
}

// quote makes what the far end said fit to be shown: on one line, short, and without our secrets.
func (s *Sink) quote(said []byte) string {
	text := s.secrets.Mask(strings.ToValidUTF8(string(said), "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
	return message.Shorten(strings.TrimSpace(text), reasonBytes)
}

// retryAfter reads a Retry-After header: seconds, or an HTTP date. 0: it says nothing that can be heeded.
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, MaxRetryAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), MaxRetryAfter)
}

// maxRedirects bounds how often one request is sent on.
const maxRedirects = 5

// redirect follows only what keeps the method and the body (307, 308) and stays on the same host: anything else could
// carry messages and secrets where nobody wanted them. What is not followed is an answer like any other.
func (s *Sink) redirect(next *http.Request, via []*http.Request) error {
	code := next.Response.StatusCode
	same := next.URL.Scheme == s.url.Scheme && next.URL.Host == s.url.Host
	if same && len(via) <= maxRedirects &&
		(code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect) {
		return nil
	}
	return http.ErrUseLastResponse
}
