package bench

import (
	"testing"
	"time"
)

func TestTenMillionAreOnlyForThoseWhoAsk(t *testing.T) {
	most := func(s *queueSession) (disk int64) {
		for _, e := range s.experiments() {
			disk = max(disk, e.disk)
		}
		return disk
	}
	if n := most(&queueSession{extent: whole}); n > 4<<30 {
		t.Errorf("the whole bench needs %d bytes", n)
	}
	if n := most(&queueSession{session: session{Options: Options{Deep: true}}, extent: whole}); n < 10<<30 {
		t.Errorf("ten million messages of 1000 bytes need %d bytes", n)
	}
}

func TestWholeBenchTakesAboutTenMinutes(t *testing.T) {
	takes := time.Duration(0)
	for _, e := range (&queueSession{extent: whole}).experiments() {
		takes += e.takes
	}
	if takes < 5*time.Minute || takes > 12*time.Minute {
		t.Errorf("the experiments are estimated to take %v", takes)
	}
}
