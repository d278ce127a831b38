package door_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/door"
)

func TestFiguresTellErrorsOfEveryProtocol(t *testing.T) {
	d := door.NewTraffic("sqs")
	for _, code := range []string{"OK", "0", "200", "2xx", "304"} {
		d.Ended("call", code)
	}
	for _, code := range []string{"NotFound", "1064", "404", "499", "500", "other", "QueueDoesNotExist"} {
		d.Ended("call", code)
	}
	if f := d.Figures(); f.Requests != 12 || f.Errors != 7 {
		t.Errorf("%d requests, %d errors; want 12 and 7", f.Requests, f.Errors)
	}
	if f := (*door.Traffic)(nil).Figures(); f != (door.Figures{}) {
		t.Errorf("a door that nobody counts: %+v", f)
	}
}
