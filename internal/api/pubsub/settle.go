package pubsub

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// settling is what one request does with messages that were handed out.
type settling struct {
	sub      *subscription
	done     []ackID
	back     []ackID
	longer   []ackID
	deadline []time.Duration // for each of longer

	// answers, for each of done, back and longer: nil, or why it had no effect
	doneErrs, backErrs, longerErrs []error
	err                            error // of the whole

	after func(*settling) // called when it is done; nil: nobody waits
}

// settleAll does what several requests ask for, with one write to the journal.
func (d *Server) settleAll(ctx context.Context, all []*settling) []error {
	d.settleGroup(ctx, all)
	for _, s := range all {
		d.extendGroup(ctx, s)
		d.free(s)
		if s.after != nil {
			s.after(s)
		}
	}
	return nil
}

// settleGroup ends claims.
func (d *Server) settleGroup(ctx context.Context, all []*settling) {
	n := 0
	for _, s := range all {
		n += len(s.done) + len(s.back)
		d.passOver(s.back)
	}
	if n == 0 {
		return
	}
	ends := make([]queue.Settlement, 0, n)
	for _, s := range all {
		for i := range s.done {
			ends = append(ends, queue.Settlement{Token: s.done[i].token, Kind: queue.Done})
		}
		for i := range s.back {
			a := &s.back[i]
			ends = append(ends, queue.Settlement{Token: a.token, Kind: queue.Back,
				Delay: s.sub.retry.after(int(a.attempt))})
		}
	}
	errs, err := d.store.Settle(ctx, ends)
	for _, s := range all {
		if err != nil {
			s.err = err
			continue
		}
		s.doneErrs, errs = errs[:len(s.done)], errs[len(s.done):]
		s.backErrs, errs = errs[:len(s.back)], errs[len(s.back):]
		if s.sub.def.ExactlyOnce {
			d.acked.judge(s.done, false, s.doneErrs)
			d.acked.judge(s.back, true, s.backErrs)
		}
	}
}

// extendGroup moves deadlines.
func (d *Server) extendGroup(ctx context.Context, s *settling) {
	if len(s.longer) == 0 || s.err != nil {
		return
	}
	s.longerErrs = make([]error, len(s.longer))
	var tokens []queue.Token
	var places []int
	left := make([]time.Duration, len(s.longer))
	for i := range s.longer {
		left[i] = s.deadline[i] + s.sub.retry.after(int(s.longer[i].attempt))
	}
	for i := range left {
		lease := left[i]
		if lease < 0 {
			continue // went with an earlier one
		}
		tokens, places = tokens[:0], places[:0]
		for j := i; j < len(left); j++ {
			if left[j] == lease {
				tokens, places = append(tokens, s.longer[j].token), append(places, j)
				left[j] = -1
			}
		}
		errs, err := d.store.Extend(ctx, tokens, lease)
		if err != nil {
			s.err = err
			return
		}
		for k, j := range places {
			s.longerErrs[j] = errs[k]
		}
	}
}

// free tells the streams what their clients hold no longer, and what they hold longer.
func (d *Server) free(s *settling) {
	if s.err != nil {
		return
	}
	d.release(s.done)
	d.release(s.back)
	now := time.Now()
	for i := range s.longer {
		if st := d.streamOf(s.longer[i].stream); st != nil {
			st.extend(s.longer[i], now.Add(s.deadline[i]))
		}
	}
}

// release lets streams hand out more. Neighbours mostly are of one stream.
func (d *Server) release(ids []ackID) {
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n].stream == ids[0].stream {
			n++
		}
		if st := d.streamOf(ids[0].stream); st != nil {
			st.flow.release(ids[:n])
		}
		ids = ids[n:]
	}
}

// passOver lets others come first where streams wait for the messages that they give back.
func (d *Server) passOver(ids []ackID) {
	for i := range ids {
		if i > 0 && ids[i].stream == ids[i-1].stream {
			continue
		}
		if st := d.streamOf(ids[i].stream); st != nil {
			st.turn.end()
		}
	}
}

// streamOf finds the stream that a message went to; nil: none, or it is over.
func (d *Server) streamOf(number uint32) *stream {
	if number == 0 {
		return nil
	}
	if s, ok := d.streams.Load(number); ok {
		return s.(*stream)
	}
	return nil
}
