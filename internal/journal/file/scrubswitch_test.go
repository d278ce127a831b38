package file_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestAScrubIsSwitchedAndPacedWhileTheJournalIsOpen: switched on it reads at once, a new rate is in force in the middle
// of a round, and switched off it reads nothing more.
func TestAScrubIsSwitchedAndPacedWhileTheJournalIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow, burst = 1000, 1 << 20
		o := small(faultfs.New())
		o.Watch = -1
		j := mustOpen(t, o)
		for n := range 1000 {
			mustAppend(t, j, message(n, 2000))
		}
		passes := func(d time.Duration) (bytes, rounds uint64) {
			before := j.Stats()
			time.Sleep(d) // the bubble's clock
			after := j.Stats()
			return after.ScrubbedBytes - before.ScrubbedBytes, after.ScrubRounds - before.ScrubRounds
		}
		if bytes, _ := passes(48 * time.Hour); bytes > 0 {
			t.Errorf("%d bytes were read before it was switched on", bytes)
		}
		j.SetScrub(file.Scrub{Every: 24 * time.Hour, BytesPerSecond: slow})
		bytes, rounds := passes(10 * time.Minute)
		if bytes == 0 || bytes > 600*slow+burst+256<<10 || rounds > 0 {
			t.Errorf("%d bytes and %d rounds in ten minutes at %d a second", bytes, rounds, slow)
		}
		j.SetScrub(file.Scrub{Every: 24 * time.Hour, BytesPerSecond: 1 << 20})
		if bytes, rounds := passes(time.Minute); bytes < burst || rounds != 1 {
			t.Errorf("%d bytes and %d rounds in a minute at the new rate", bytes, rounds)
		}
		j.SetScrub(file.Scrub{Every: 10 * time.Minute})
		if _, rounds := passes(time.Hour); rounds < 5 {
			t.Errorf("%d rounds in an hour, one each ten minutes", rounds)
		}
		j.SetScrub(file.Scrub{Every: time.Hour, BytesPerSecond: slow})
		passes(61 * time.Minute) // into a round that would take long
		j.SetScrub(file.Scrub{})
		if bytes, rounds := passes(48 * time.Hour); bytes > 0 || rounds > 0 {
			t.Errorf("%d bytes and %d rounds after it was switched off", bytes, rounds)
		}
		j.SetScrub(file.Scrub{Every: 24 * time.Hour})
		if _, rounds := passes(time.Minute); rounds != 1 {
			t.Errorf("%d rounds in the minute in which it was switched on again", rounds)
		}
		before := time.Now()
		if err := j.Close(); err != nil || time.Since(before) > 0 {
			t.Errorf("the end took %v: %v", time.Since(before), err)
		}
	})
}
