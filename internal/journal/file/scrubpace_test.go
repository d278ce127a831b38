package file_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestAScrubKeepsToItsRateAndEndsWithTheJournal: it reads no more than was said, goes round when it was said, and
// nobody who closes the journal waits for its pace.
func TestAScrubKeepsToItsRateAndEndsWithTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, burst = 1000, 1 << 20
		d, said := faultfs.New(), new(reports)
		o := small(d)
		o.Report = said.add
		j := mustOpen(t, o)
		for n := range 1000 {
			mustAppend(t, j, message(n, 2000))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		o.Watch = -1 // which would look four times a second, for a day
		o.Scrub = file.Scrub{Every: 24 * time.Hour, BytesPerSecond: rate}
		j = mustOpen(t, o) // the first round begins now
		begun := time.Now()
		for range 30 {
			time.Sleep(time.Minute) // the bubble's clock
			if n, most := j.Stats().ScrubbedBytes, rate*time.Since(begun).Seconds()+burst+256<<10; float64(n) > most {
				t.Fatalf("%d bytes in %v, at most %.0f", n, time.Since(begun), most)
			}
		}
		if st := j.Stats(); st.ScrubbedBytes == 0 || st.ScrubRounds > 0 {
			t.Fatalf("after half an hour: %+v", st)
		}
		for j.Stats().ScrubRounds == 0 {
			time.Sleep(time.Minute)
		}
		if took := time.Since(begun); took >= 24*time.Hour {
			t.Errorf("a round took %v", took)
		}
		one := j.Stats().ScrubbedBytes
		time.Sleep(time.Until(begun.Add(23 * time.Hour)))
		if st := j.Stats(); st.ScrubbedBytes != one {
			t.Errorf("it went on before a day was over: %+v", st)
		}
		time.Sleep(2 * time.Hour)
		if st := j.Stats(); st.ScrubbedBytes == one {
			t.Error("it did not begin again")
		}
		before := time.Now()
		if err := j.Close(); err != nil { // in the middle of a round
			t.Error(err)
		}
		if took := time.Since(before); took > 0 {
			t.Errorf("close took %v", took)
		}
		if errs := said.take(); len(errs) > 0 {
			t.Error(errs)
		}
	})
}
