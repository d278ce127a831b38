package pipeline

import (
	"reflect"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// watch is an Observer that changes nothing.
type watch struct{}

func (watch) Message(*message.Message, string, component.Outcome) {}

// TestASourcesMessageIsNotChanged is about messages that lack nothing, which go their way uncopied, and about bare
// ones.
func TestASourcesMessageIsNotChanged(t *testing.T) {
	whole := text("whole")
	whole.Hops.Mark(message.Accepted, time.Now())
	queued := text("queued")
	queued.Hops.Mark(message.Accepted, time.Now())
	queued.Hops.Mark(message.Claimed, time.Now())
	marked := queued.Clone()
	marked.Body, marked.Origin = []byte("marked"), message.Origin{Source: "a file", Offset: 7, Mark: 5}
	src := &feed{deliveries: []component.Delivery{
		{Message: whole}, {Message: &message.Message{Body: []byte("bare")}},
		{Message: queued, Queue: "default/q"}, {Message: marked, Queue: "default/q"},
		{Message: text("unclaimed"), Queue: "default/q"},
	}}
	var before []message.Message
	for _, d := range src.deliveries {
		before = append(before, *d.Message)
	}
	sink := &answer{}
	p := mustNew(t, &keeper{}, Options{Observe: watch{}},
		Node{Name: "in", Source: src},
		Node{Name: "same", Inputs: []string{"in"}, Transform: same},
		Node{Name: "out", Inputs: []string{"in", "same"}, Sink: sink,
			Settings: Settings{Request: Request{Concurrency: 1}}})
	mustRun(t, p)
	for i, d := range src.deliveries {
		if !reflect.DeepEqual(*d.Message, before[i]) {
			t.Errorf("%s was changed:\n%+v\n%+v", d.Message.Body, before[i], *d.Message)
		}
	}
	if len(sink.messages) != 2*len(before) {
		t.Fatalf("%d messages came", len(sink.messages))
	}
	for _, m := range sink.messages {
		queued := string(m.Body) != "whole" && string(m.Body) != "bare"
		if m.ID.IsZero() || m.Hops[message.Accepted] == 0 || queued != (m.Hops[message.Claimed] != 0) ||
			m.Origin.Mark != 0 {
			t.Errorf("%s came without what it needs: %+v", m.Body, m)
		}
	}
}
