package campaign_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestTheRateAndTheEndAreThoseOfTheLastTenSeconds follows a campaign of 1,000 from its first push to its end.
func TestTheRateAndTheEndAreThoseOfTheLastTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.None})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{clock: &clock{at: time.Now()}}
		if r.store, err = queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true}); err != nil {
			t.Fatal(err)
		}
		for _, n := range []queue.Name{news, outbox} {
			if _, err := r.store.CreateQueue(t.Context(), n, queue.Definition{}); err != nil {
				t.Fatal(err)
			}
		}
		if r.Registry, err = campaign.Open(t.Context(), r.store, nil); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(r.Close(), r.store.Close(), j.Close()); err != nil {
				t.Error(err)
			}
		}()
		r.Guard(outbox)
		id := r.start(t, campaign.Order{}).ID
		r.made(t, id, 1000, true)
		settled := 0
		// seconds lets some pass, each with so many outcomes.
		seconds := func(n, each int) campaign.View {
			for range n {
				for range each {
					r.Count(id, []campaign.Outcome{campaign.Sent, campaign.Sent, campaign.Refused, campaign.Dropped,
						campaign.Capped}[settled%5], "no")
					settled++
				}
				time.Sleep(time.Second)
				synctest.Wait()
			}
			return r.show(t, id)
		}
		want := func(v campaign.View, rate float64) {
			t.Helper()
			left := 1000 - settled
			end := time.Duration(float64(left) / rate * float64(time.Second))
			if v.Rate != rate || v.Left != uint64(left) || v.End == nil ||
				time.Until(*v.End).Round(time.Second) != end.Round(time.Second) {
				t.Errorf("after %d: %v/s, %d left, until %v, not %v/s and %v more", settled, v.Rate, v.Left,
					v.End, rate, end)
			}
		}
		if v := r.show(t, id); v.Rate != 0 || v.End != nil || v.First != nil {
			t.Errorf("before anything is known: %+v", v)
		}
		want(seconds(5, 20), 20)
		want(seconds(11, 40), 40)
		if _, err := r.Pause(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if v := seconds(1, 0); v.Rate != 0 || v.End != nil {
			t.Errorf("paused: %+v", v)
		}
		if _, err := r.Resume(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		seconds(10, 46)
		if _, err := r.store.Purge(t.Context(), outbox); err != nil {
			t.Fatal(err)
		}
		v := seconds(2, 0)
		if v.State != campaign.Done || v.Made != 1000 || v.Sent != 400 || v.Refused != 200 || v.Dropped != 200 ||
			v.Capped != 200 || v.Left != 0 || v.Rate != 0 || v.End != nil || v.Ended == nil || v.Ended.Before(*v.Last) {
			t.Errorf("at its end: %+v", v)
		}
	})
}
