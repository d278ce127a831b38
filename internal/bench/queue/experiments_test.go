package queue

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

func TestTenMillionAreOnlyForThoseWhoAsk(t *testing.T) {
	most := func(s *session) (disk int64) {
		for _, e := range s.experiments() {
			disk = max(disk, e.Disk)
		}
		return disk
	}
	if n := most(&session{extent: whole}); n > 4<<30 {
		t.Errorf("the whole bench needs %d bytes", n)
	}
	if n := most(&session{Session: harness.Session{Options: harness.Options{Deep: true}}, extent: whole}); n < 10<<30 {
		t.Errorf("ten million messages of 1000 bytes need %d bytes", n)
	}
}

func TestWholeBenchTakesAboutTenMinutes(t *testing.T) {
	takes := time.Duration(0)
	for _, e := range (&session{extent: whole}).experiments() {
		takes += e.Takes
	}
	if takes < 5*time.Minute || takes > 12*time.Minute {
		t.Errorf("the experiments are estimated to take %v", takes)
	}
}
