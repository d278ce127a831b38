package http

import (
	"fmt"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// token reads a token as it was handed to this user. Another user's is like an invented one.
func (c *call) token(text string) (queue.Token, error) {
	plain, ok := c.user.Unseal(text)
	if !ok {
		return queue.Token{}, fmt.Errorf("%w: %.100q was not given to user %s", queue.ErrBadToken, text, c.user.Name)
	}
	t, err := queue.ParseToken(plain)
	if err != nil || !c.d.users.Any() {
		return t, err
	}
	n, ok, err := c.d.store.QueueOf(c.ctx(), t)
	if err == nil && ok { // the grant may have been taken away since the claim
		err = c.may(access.Take, n)
	}
	return t, err
}

func settle(c *call) error {
	var r settleRequest
	if err := c.decode(&r, true); err != nil {
		return err
	}
	if len(r.Settlements) == 0 {
		return badRequest.problem("settlements is empty").withHint(`{"settlements": [{"token": "…", "as": "done"}]}`)
	}
	if err := within("the number of settlements", len(r.Settlements), MaxSettle); err != nil {
		return err
	}
	b := tokenBatch{c: c, results: make([]TokenResult, len(r.Settlements))}
	var settlements []queue.Settlement
	for i, s := range r.Settlements {
		out, err := c.settlement(s)
		if b.take(i, s.Token, err) {
			settlements = append(settlements, out)
		}
	}
	return b.answer(func() ([]error, error) { return c.d.store.Settle(c.ctx(), settlements) })
}

func (c *call) settlement(s Settlement) (queue.Settlement, error) {
	out := queue.Settlement{Delay: time.Duration(s.Delay), Reason: s.Reason}
	switch s.As {
	case Done, "":
		out.Kind = queue.Done
	case Back:
		out.Kind = queue.Back
	case Dead:
		out.Kind = queue.Dead
	default:
		return out, badRequest.problemf("as: %.40q is no way to settle (done, back and dead are)", s.As)
	}
	if s.Delay != 0 && out.Kind != queue.Back {
		return out, badRequest.problem("delay is for back only")
	}
	if s.Reason != "" && out.Kind != queue.Dead {
		return out, badRequest.problem("reason is for dead only")
	}
	var err error
	out.Token, err = c.token(s.Token)
	return out, err
}

func extend(c *call) error {
	var r extendRequest
	if err := c.decode(&r, true); err != nil {
		return err
	}
	if len(r.Tokens) == 0 {
		return badRequest.problem("tokens is empty").withHint(`{"tokens": ["…"], "lease": "30s"}`)
	}
	if err := within("the number of tokens", len(r.Tokens), MaxSettle); err != nil {
		return err
	}
	lease := time.Duration(r.Lease)
	if lease <= 0 || lease > queue.MaxLease {
		return badRequest.problemf("lease is %v: it must be more than nothing and at most %v, from now", lease,
			queue.MaxLease)
	}
	b := tokenBatch{c: c, results: make([]TokenResult, len(r.Tokens))}
	var tokens []queue.Token
	for i, text := range r.Tokens {
		t, err := c.token(text)
		if b.take(i, text, err) {
			tokens = append(tokens, t)
		}
	}
	return b.answer(func() ([]error, error) { return c.d.store.Extend(c.ctx(), tokens, lease) })
}

// tokenBatch keeps the results of many tokens in their order, though only the readable ones go to the store.
type tokenBatch struct {
	c       *call
	results []TokenResult
	sent    []int // indexes of those that went to the store
}

// take notes the token; false when it is not for the store.
func (b *tokenBatch) take(i int, token string, err error) bool {
	b.results[i].Token = token
	if err != nil {
		b.refuse(i, err)
		return false
	}
	b.sent = append(b.sent, i)
	return true
}

func (b *tokenBatch) refuse(i int, err error) {
	b.results[i].Problem, _ = problemOf(err)
}

func (b *tokenBatch) answer(do func() ([]error, error)) error {
	if len(b.sent) > 0 {
		errs, err := do()
		if err != nil {
			return err
		}
		for k, i := range b.sent {
			if errs[k] != nil {
				b.refuse(i, errs[k])
				continue
			}
			b.results[i].OK = true
		}
	}
	return b.c.w.json(http.StatusOK, tokenResults{b.results})
}
