package soak

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func (w *world) claim() {
	r := w.random
	want := want{max: 1 + r.IntN(4)}
	for range 1 + r.IntN(2) {
		q := w.anyQueue()
		if !slices.ContainsFunc(want.from, func(f wish) bool { return f.queue == q.name }) {
			want.from = append(want.from, wish{q.name, r.IntN(len(w.choices))})
		}
	}
	if r.IntN(4) == 0 {
		want.bytes = 50 + r.IntN(3000)
	}
	if r.IntN(2) == 0 {
		want.lease = time.Duration(1+r.IntN(20)) * time.Second
	}
	w.claimant++
	want.claimant = w.claimant
	var owner queue.Owner
	if r.IntN(3) == 0 {
		want.owner, owner = w.anyOwner()
		want.claimant = want.owner
	}
	w.ask(want, owner)
}

// ask claims.
func (w *world) ask(want want, owner queue.Owner) {
	request := queue.ClaimRequest{Max: want.max, Bytes: want.bytes, Lease: want.lease, Owner: owner}
	for _, f := range want.from {
		request.From = append(request.From, queue.From{Queue: f.queue, Where: w.choices[f.where].where})
	}
	w.say("claim %d (%d bytes) for owner %d, lease %v, from %s", want.max, want.bytes, want.owner, want.lease,
		w.describe(want.from))
	var got []handed
	durable := 0     // how many of the states before are impossible once it has answered
	var halts []halt // where it may have ended when it has answered an error
	var claims []queue.Claim
	done := w.do(false, func() error {
		got, durable, halts = w.expectClaim(&want)
		return nil
	}, func() (err error) {
		claims, err = w.s.Claim(context.Background(), request)
		return err
	})
	if !done {
		w.halted(halts)
		return
	}
	if slices.ContainsFunc(got, func(h handed) bool { return h.q.def.ExactlyOnce }) {
		durable = len(w.past)
	}
	w.past = w.past[durable:]
	w.sure = len(w.past)
	if w.isCut() {
		return
	}
	w.compareClaims(got, claims)
}

// expectClaim is a claim of the reference. What is damaged is set aside, durably, and when that is all, it looks again.
func (w *world) expectClaim(want *want) (good []handed, durable int, halts []halt) {
	past := slices.Clone(w.past[:w.sure])
	for {
		before := w.m.clone()
		got := w.m.claim(want, w.choices)
		halts = append(halts, refused(before, w.m, past))
		if len(got) == 0 {
			return nil, durable, halts
		}
		if i := slices.IndexFunc(got, func(h handed) bool { return h.unsound }); i < 0 {
			return got, durable, halts
		}
		w.mark()
		halts = append(halts, halt{w.m.clone(), append(slices.Clone(past), before)})
		for _, h := range got {
			if h.unsound {
				h.m.claimed = false
				w.m.bury(h.q, h.m)
			} else {
				good = append(good, h)
			}
		}
		if len(good) > 0 {
			return good, len(w.past), halts
		}
		durable, past = len(w.past), nil
		w.mark()
		if want.owner == 0 {
			w.claimant++
			want.claimant = w.claimant
		}
	}
}

func (w *world) compareClaims(got []handed, claims []queue.Claim) {
	w.say("  … got %s", listClaims(claims))
	if len(claims) != len(got) {
		w.wrong("it claimed %s, the reference %s", listClaims(claims), listHanded(got))
	}
	for i, h := range got {
		c := &claims[i]
		if c.Message.ID != h.m.id || c.Queue != h.q.name || c.From != h.from || h.m.seq != 0 && c.Sequence != h.m.seq {
			w.wrong("it claimed %s, the reference %s", listClaims(claims), listHanded(got))
		}
		if body := string(c.Body()); body != h.m.body {
			w.wrong("it delivered %s as %s instead of %s", c.Message.ID, brief(body), brief(h.m.body))
		}
		if c.Attempt != h.m.attempts {
			w.wrong("it delivered %s for the %d. time, the reference says %d", c.Message.ID, c.Attempt, h.m.attempts)
		}
		if !c.Deadline.Equal(timeOf(h.m.deadline)) {
			w.wrong("the lease of %s ends %v, the reference says %v", c.Message.ID, c.Deadline, timeOf(h.m.deadline))
		}
		if slices.Contains(w.tokens, c.Token) {
			w.wrong("the token %v was given twice", c.Token)
		}
		h.m.token = c.Token
		w.tokens = append(w.tokens, c.Token)
	}
}

func listClaims(cs []queue.Claim) (s string) {
	for i := range cs {
		s += fmt.Sprintf("%s/%d:%s ", cs[i].Queue.Short(), cs[i].Sequence, short(cs[i].Message.ID.String()))
	}
	return "[" + s + "]"
}

func listHanded(hs []handed) (s string) {
	for _, h := range hs {
		s += fmt.Sprintf("%s/%d:%s ", h.q.name.Short(), h.m.seq, short(h.m.id.String()))
	}
	return "[" + s + "]"
}

func (w *world) describe(fs []wish) (s string) {
	for i, f := range fs {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s where %q", f.queue.Short(), w.choices[f.where].text)
	}
	return s
}

// anyOwner is one that there is, or a new one.
func (w *world) anyOwner() (int, queue.Owner) {
	for id := w.claimant; id > 0 && w.random.IntN(3) > 0; id-- {
		if o := w.owners[id]; o != nil {
			return id, o
		}
	}
	w.claimant++
	w.owners[w.claimant] = w.s.NewOwner(fmt.Sprint("owner ", w.claimant))
	return w.claimant, w.owners[w.claimant]
}

func (w *world) closeOwner() {
	for id := w.claimant; id > 0; id-- {
		if o := w.owners[id]; o != nil && w.random.IntN(2) == 0 {
			w.say("owner %d closes", id)
			delete(w.owners, id)
			w.do(false, func() error { w.m.close(id); return nil }, func() error { o.Close(); return nil })
			return
		}
	}
}
