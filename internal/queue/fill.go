package queue

import (
	"context"
	"errors"
	"fmt"
)

// fill reads the bodies of claimed messages. One that cannot be read is set aside as a dead letter, with the reason,
// and left out; one that a later version wrote is sound, and stays where it is.
func (s *Store) fill(ctx context.Context, picks []picked) ([]Claim, error) {
	f := newFilling(picks)
	err := s.journal.Read(ctx, f.addrs, f.add)
	claims, bad := f.claims, f.bad
	if err == nil && len(bad) > 0 {
		err = wroteLater(picks, bad)
	}
	if err != nil {
		_, err2 := s.Settle(context.WithoutCancel(ctx), backOf(picks))
		return nil, errors.Join(fmt.Errorf("read claimed messages: %w", err), err2)
	}
	if len(bad) == 0 {
		return claims, nil
	}
	good := claims[:0]
	var dead []Settlement
	for i := range claims {
		if err := bad[i]; err != nil {
			dead = append(dead, Settlement{Token: picks[i].token, Kind: Dead, Reason: "set aside: " + err.Error()})
		} else {
			good = append(good, claims[i])
		}
	}
	if _, err := s.Settle(ctx, dead); err != nil {
		_, err2 := s.Settle(context.WithoutCancel(ctx), backOf(picks)) // the caller gets none of them
		return nil, errors.Join(fmt.Errorf("set damaged messages aside: %w", err), err2)
	}
	return good, nil
}
