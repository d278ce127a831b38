package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// heldCookie has the token of the message that this browser claimed last, so that no address has it.
	heldCookie = "hikyaku_held"
	// heldFor is how long somebody may think.
	heldFor = 5 * time.Minute
)

// hold claims one message, and leads to its page, where it is settled.
func hold(ctx context.Context, a *asking) (outcome, error) {
	n := a.queue()
	claims, err := a.door.Claim(ctx, n, httpdoor.ClaimRequest{Where: a.field("where"), Max: 1,
		Lease: httpdoor.Duration(heldFor)})
	if err != nil {
		return outcome{}, err
	}
	if len(claims) == 0 {
		return outcome{to: a.page(n), said: a.T("There is nothing to claim.")}, nil
	}
	c := &claims[0]
	to := a.MessagePath(n.String(), c.Sequence)
	return outcome{to: to, held: to + "\n" + c.Token, until: heldFor,
		said: a.T("It is claimed for %s, attempt %d.", a.Span(heldFor), c.Attempt)}, nil
}

// held is the token by which this browser holds a message; "": it does not.
func (a *asking) held(n queue.Name, sequence uint64) string {
	c, err := a.r.Cookie(heldCookie)
	if err != nil {
		return ""
	}
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	to, token, _ := strings.Cut(text, "\n")
	if to != a.MessagePath(n.String(), sequence) {
		return ""
	}
	return token
}

// settle ends the claim of this browser.
func settle(ctx context.Context, a *asking) (outcome, error) {
	n := a.queue()
	sequence, _ := strconv.ParseUint(a.r.PathValue("sequence"), 10, 64) // no number: nobody holds it
	token := a.held(n, sequence)
	if token == "" {
		return outcome{}, &httpdoor.Problem{Title: a.T("Nothing was settled"), Status: http.StatusConflict,
			Detail: a.T("This browser does not hold the message.")}
	}
	how := httpdoor.Settlement{Token: token, As: a.field("as")}
	done := outcome{to: a.page(n), until: -time.Second}
	switch how.As {
	case httpdoor.Done:
		done.said = a.T("Settled: the message is gone.")
	case httpdoor.Back:
		done.said = a.T("Settled: the message is back in its place.")
	case httpdoor.Dead:
		how.Reason = a.field("reason")
		done.said = a.T("Settled: the message is a dead letter.")
	}
	results, err := a.door.Settle(ctx, how)
	if err != nil {
		return outcome{}, err
	}
	if p := results[0].Problem; p != nil {
		return outcome{}, p
	}
	return done, nil
}
