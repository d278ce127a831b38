package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// mostReceiptBytes bounds the receipts that wait for a settlement; those beyond are dropped.
const mostReceiptBytes = 64 << 20

var errManyReceipts = fmt.Errorf("more than %d bytes of receipts wait to be put", mostReceiptBytes)

// receipts are those of claims whose settlement is not kept yet. The source's lock guards them.
type receipts struct {
	of    map[queue.Token]*component.Receipt
	bytes int
}

// keepReceipts holds the receipts of a claim, one or several, for its settlement.
func (s *Source) keepReceipts(t queue.Token, r *component.Receipt) {
	bytes := 0
	for each := r; each != nil; each = each.Next {
		bytes += each.Bytes()
	}
	s.mu.Lock()
	fits := s.receipts.bytes+bytes <= mostReceiptBytes
	if fits {
		if s.receipts.of == nil {
			s.receipts.of = map[queue.Token]*component.Receipt{}
		}
		s.receipts.of[t] = r
		s.receipts.bytes += bytes
	}
	s.mu.Unlock()
	for ; !fits && r != nil; r = r.Next {
		r.Done(errManyReceipts)
	}
}

// takeReceipts are the receipts of claims that are about to be settled, in their order.
func (s *Source) takeReceipts(sts []queue.Settlement) (rs []*component.Receipt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.receipts.of) == 0 {
		return nil
	}
	rs = make([]*component.Receipt, 0, len(sts))
	for _, st := range sts {
		r := s.receipts.of[st.Token]
		if r == nil {
			continue
		}
		delete(s.receipts.of, st.Token)
		for ; r != nil; r = r.Next {
			rs = append(rs, r)
			s.receipts.bytes -= r.Bytes()
		}
	}
	return rs
}

// commitWith keeps settlements and puts their receipts in one change. over is false where the receipts are refused:
// then nothing is kept yet.
func (s *Source) commitWith(ctx context.Context, sts []queue.Settlement, rs []*component.Receipt) (over bool,
	err error) {
	_, _, err = s.store.Commit(ctx, queue.Change{Settles: sts, Puts: component.ReceiptPuts(rs)})
	switch {
	case err == nil:
		component.EndReceipts(rs, nil)
		return true, nil
	case errors.Is(err, queue.ErrClosed), errors.Is(err, queue.ErrUnavailable), ctx.Err() != nil:
		component.EndReceipts(rs, err)
		return true, s.unsettled(len(sts), err)
	}
	return false, err
}
