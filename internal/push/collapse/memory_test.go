package collapse

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestAnOlderMessageDoesNotOvertakeANewerOne(t *testing.T) {
	var c Memory
	at := time.Now()
	if _, replaced := c.Note(at.Add(time.Second), "app", "device", "score"); replaced {
		t.Error("the first that is seen is replaced")
	}
	if p, replaced := c.Note(at, "app", "device", "score"); !replaced || p != nil {
		t.Error("an older one that comes later is sent")
	}
	if p, replaced := c.Note(at.Add(time.Second), "app", "device", "score"); replaced || p == nil {
		t.Error("one of the same time is replaced")
	}
	for _, names := range [][]string{{"app", "device", "other"}, {"app", "devices", "core"},
		{"ap", "pdevice", "score"}} {
		if _, replaced := c.Note(at, names...); replaced {
			t.Errorf("%q is replaced by another's", names)
		}
	}
	if p, replaced := c.Note(time.Time{}, "app", "device", "score"); replaced || p != nil {
		t.Error("one without a time is replaced")
	}
}

func TestAMessageThatIsReplacedBeforeItsRequestIsNotSent(t *testing.T) {
	var c Memory
	at := time.Now()
	first, _ := c.Note(at, "device", "score")
	second, _ := c.Note(at.Add(1), "device", "score")
	if !c.Begin(first) {
		t.Error("the older one may begin")
	}
	if c.Begin(second) || c.UnderWay() != 1 {
		t.Error("the newer one may not")
	}
	again := second.Again()
	if c.End(second) || c.UnderWay() != 0 || c.Begin(again) {
		t.Error("it does not end, or may not be tried again")
	}
	if _, replaced := c.Note(at.Add(2), "device", "score"); replaced {
		t.Error("the newest is replaced")
	}
	if !c.End(again) {
		t.Error("what was under way was not replaced")
	}
	var none *Push
	if c.Begin(none.Again()) || c.End(none) || c.UnderWay() != 0 {
		t.Error("one without a collapse id is known")
	}
}

func TestTheMemoryIsBounded(t *testing.T) {
	var c Memory
	at := time.Now()
	for i := range 5 * most {
		c.Note(at, fmt.Sprint(i))
	}
	if n := len(c.young) + len(c.old); n > 2*most {
		t.Errorf("%d are known", n)
	}
	if _, replaced := c.Note(at.Add(-1), "0"); replaced {
		t.Error("the first of many is still known")
	}
	if _, replaced := c.Note(at.Add(-1), fmt.Sprint(5*most-1)); !replaced {
		t.Error("the last of many is forgotten")
	}
}

func TestTheMemoryServesManyGoroutines(t *testing.T) {
	var c Memory
	var work sync.WaitGroup
	at := time.Now()
	for i := range 8 {
		work.Go(func() {
			for n := range 500 {
				p, replaced := c.Note(at.Add(time.Duration(n*8+i)), "device", fmt.Sprint(n%3))
				if !replaced && !c.Begin(p) {
					c.End(p)
				}
			}
		})
	}
	work.Wait()
	if n := c.UnderWay(); n != 0 {
		t.Errorf("%d are under way", n)
	}
}
