package remote

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// claimArgs are a queue.ClaimRequest.
type claimArgs struct {
	From         []fromArgs
	Max, Bytes   int
	Wait, Lease  time.Duration
	ByKey, Apart bool
	Hold         bool
	Owner        ownerArgs
}

// ownerArgs name an owner of the connection; the zero one is none.
type ownerArgs struct {
	ID   uint64
	Name string // for people
}

type claimed struct {
	Claims []queue.Claim
	Tables tables
}

var (
	settle = define("Settle", func(ctx context.Context, s queue.Shard, ss []queue.Settlement, _ *exchange) ([]*failure,
		error) {
		errs, err := s.Settle(ctx, ss)
		return failuresOf(errs), err
	})
	extend = define("Extend", func(ctx context.Context, s queue.Shard, a two[[]queue.Token, time.Duration],
		_ *exchange) ([]*failure, error) {
		errs, err := s.Extend(ctx, a.One, a.Two)
		return failuresOf(errs), err
	})
	claim      = define("Claim", doClaim)
	closeOwner = define("CloseOwner", func(_ context.Context, s queue.Shard, id uint64, x *exchange) (none, error) {
		x.session.closeOwner(s, id)
		return none{}, nil
	})
	tokenOf = find2("TokenOf", queue.Shard.TokenOf)
	queueOf = find1("QueueOf", queue.Shard.QueueOf)
)

func doClaim(ctx context.Context, s queue.Shard, a claimArgs, x *exchange) (r claimed, err error) {
	q := queue.ClaimRequest{Max: a.Max, Bytes: bounded(a.Bytes), Wait: a.Wait, Lease: a.Lease, ByKey: a.ByKey,
		Apart: a.Apart, Hold: x.hold(a.Hold)}
	for _, f := range a.From {
		e, err := f.Where.parse()
		if err != nil {
			return r, err
		}
		q.From = append(q.From, queue.From{Queue: f.Queue, Where: e})
	}
	if a.Owner.ID != 0 {
		if q.Owner, err = x.session.owner(s, a.Owner); err != nil {
			return r, err
		}
	}
	if r.Claims, err = s.Claim(ctx, q); err != nil || len(r.Claims) == 0 {
		return r, err
	}
	back := make([]queue.Settlement, len(r.Claims))
	for i := range r.Claims {
		r.Tables.add(r.Claims[i].Columns)
		r.Claims[i].Columns = nil
		back[len(back)-1-i] = queue.Settlement{Token: r.Claims[i].Token, Kind: queue.Back, Uncounted: true}
	}
	x.undo = func() {
		// What cannot be given back comes back when its lease or its owner ends.
		_, _ = s.Settle(context.WithoutCancel(ctx), back)
	}
	return r, nil
}

// Claim implements queue.Taking. One answer has 64 MiB of messages at most, or one message.
func (s *Store) Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error) {
	a := claimArgs{Max: r.Max, Bytes: r.Bytes, Wait: r.Wait, Lease: r.Lease, ByKey: r.ByKey, Apart: r.Apart,
		Hold: r.Hold != nil}
	for _, f := range r.From {
		a.From = append(a.From, fromArgs{f.Queue, whereOf(f.Where)})
	}
	if o, _ := r.Owner.(*owner); o != nil {
		var over func()
		var err error
		if ctx, over, err = o.use(ctx); err != nil {
			return nil, err
		}
		defer over()
		a.Owner = ownerArgs{o.id, o.name}
	}
	got, err := claim.ask(ctx, s, a, asked{hold: r.Hold})
	for i := range got.Claims {
		got.Claims[i].Columns = got.Tables.of(i)
	}
	return got.Claims, err
}

// Settle implements queue.Taking.
func (s *Store) Settle(ctx context.Context, ss []queue.Settlement) ([]error, error) {
	fs, err := settle.of(ctx, s, ss)
	return errorsOf(fs), err
}

// Extend implements queue.Taking.
func (s *Store) Extend(ctx context.Context, tokens []queue.Token, lease time.Duration) ([]error, error) {
	fs, err := extend.of(ctx, s, pair(tokens, lease))
	return errorsOf(fs), err
}

// TokenOf implements queue.Taking.
func (s *Store) TokenOf(ctx context.Context, n queue.Name, sequence uint64) (t queue.Token, ok bool, err error) {
	f, err := tokenOf.of(ctx, s, pair(n, sequence))
	return f.Value, f.OK, err
}

// QueueOf implements queue.Taking.
func (s *Store) QueueOf(ctx context.Context, t queue.Token) (n queue.Name, ok bool, err error) {
	f, err := queueOf.of(ctx, s, t)
	return f.Value, f.OK, err
}
