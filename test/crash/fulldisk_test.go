//go:build linux

package crash

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	diskBytes    = 264 << 20
	segmentBytes = 16 << 20 // on a disk of that size
	parcel       = 1 << 20
)

func TestAFullDiskRefusesPutsAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir, ok := ownDisk(t, diskBytes)
	if !ok {
		return
	}
	data := filepath.Join(dir, "data")
	s := serve(t, preamble(data))
	put := fill(t, s, 0)
	s.kill() // also a full disk is no reason not to start again
	s = serve(t, preamble(data))
	if st := s.stats(t, "parcels"); int(st.Messages) != put {
		t.Errorf("%d were acknowledged; the queue has %+v", put, st)
	}
	if fitted := fill(t, s, put); fitted > put+segmentBytes/parcel { // a start may have made room in a segment
		t.Errorf("%d were taken before the restart, and %d more after it", put, fitted-put)
	} else {
		put = fitted
	}
	got := drain(t, s, put)
	until(t, says("there is room again"), func() bool {
		_, err := s.client.Put(t.Context(), queueName("parcels"), bigMessage(put))
		if err != nil && !errors.Is(err, queue.ErrNoRoom) {
			t.Fatalf("%v\n%s", err, s.log())
		}
		return err == nil
	})
	if err := s.client.Ready(t.Context()); err != nil {
		t.Errorf("ready when there is room again: %v", err)
	}
	t.Logf("%d parcels of 1 MiB fitted, %d were drained", put, got)
	s.stop(t)
	checkJournal(t, data)
}

// bigMessage is one whose body begins with its number.
func bigMessage(n int) httpdoor.Message {
	return httpdoor.NewMessage([]byte(fmt.Sprintf("%06d", n) + strings.Repeat("x", parcel)))
}

// fill puts messages from a number on until the disk is full, and returns how many were taken by then.
func fill(t *testing.T, s *served, from int) int {
	t.Helper()
	for n := from; ; n++ {
		_, err := s.client.Put(t.Context(), queueName("parcels"), bigMessage(n))
		if err == nil {
			if n > diskBytes/parcel {
				t.Fatal("the disk does not get full")
			}
			continue
		}
		var p *httpdoor.Problem
		if !errors.As(err, &p) || p.Status != 507 || p.Type != "urn:hikyaku:no-room" ||
			!errors.Is(err, queue.ErrNoRoom) {
			t.Fatalf("a full disk answers %v\n%s", err, s.log())
		}
		if n == 0 {
			t.Fatal("nothing was taken at all")
		}
		if err := s.client.Ready(t.Context()); !errors.As(err, &p) || p.Status != 503 || p.Reason != "no-room" {
			t.Errorf("ready on a full disk: %v", err)
		}
		return n
	}
}

// drain claims and settles every message while the disk is full, and returns how many there were.
func drain(t *testing.T, s *served, want int) int {
	t.Helper()
	seen := map[string]bool{}
	for len(seen) < want {
		claims, err := s.client.Claim(t.Context(), queueName("parcels"), httpdoor.ClaimRequest{Max: 10})
		if err != nil || len(claims) == 0 {
			t.Fatalf("a claim on a full disk: %d messages, %v; %d of %d seen\n%s", len(claims), err, len(seen), want,
				s.log())
		}
		ss := make([]httpdoor.Settlement, len(claims))
		for i := range claims {
			b, err := claims[i].Bytes()
			if err != nil || len(b) != parcel+6 || seen[string(b[:6])] {
				t.Fatalf("a parcel of %d bytes came, or came twice: %v", len(b), err)
			}
			seen[string(b[:6])] = true
			ss[i] = httpdoor.Settlement{Token: claims[i].Token}
		}
		results, err := s.client.Settle(t.Context(), ss...)
		if err != nil {
			t.Fatalf("settling on a full disk: %v\n%s", err, s.log())
		}
		for _, r := range results {
			if !r.OK {
				t.Errorf("settling on a full disk: %v", r.Problem)
			}
		}
	}
	return len(seen)
}
