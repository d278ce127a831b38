package outcome

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
)

func TestNoMoreNamesAreCountedThanTheBound(t *testing.T) {
	var c Counts
	if all := c.All(); all != nil {
		t.Errorf("before anything there is %v", all)
	}
	for i := range 2 * mostNames {
		c.Add(fmt.Sprint(i))
	}
	c.Add("")
	c.Add("7") // known
	all := c.All()
	if len(all) != mostNames+1 || all[Unknown] != mostNames+1 || all["7"] != 2 {
		t.Errorf("%d names, %d unknown, %d of one that is known", len(all), all[Unknown], all["7"])
	}
	all["7"] = 0
	if c.All()["7"] != 2 {
		t.Error("the map is not the caller's")
	}
}

func TestALostAnswerIsCountedOnlyWhereTryingAgainMayDouble(t *testing.T) {
	var c Counts
	reason, sent := errors.New("reset"), time.Unix(1_800_000_000, 0)
	for i, unprocessed := range []bool{true, false} {
		o := c.Lost(push.Result{Err: reason, Unprocessed: unprocessed, Sent: sent})
		if o.Verdict != component.Retry || !errors.Is(o.Reason, reason) || !o.Sent.Equal(sent) || o.After != 0 ||
			o.Held != unprocessed {
			t.Errorf("%+v", o)
		}
		if n := c.All()[Doubled]; n != uint64(i) {
			t.Errorf("unprocessed %v: %d were counted", unprocessed, n)
		}
	}
}

func TestWhatCanNeverBeARequestIsRejected(t *testing.T) {
	var c Counts
	reason := fmt.Errorf("%w: path %q", push.ErrRequest, "/ ")
	o := c.Lost(push.Result{Err: reason, Unprocessed: true})
	if o.Verdict != component.Rejected || o.Held || !errors.Is(o.Reason, push.ErrRequest) || c.All()[Doubled] != 0 {
		t.Errorf("%+v", o)
	}
}
