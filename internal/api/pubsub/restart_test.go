package pubsub

import (
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

func TestWhatAClientHoldsStaysItsOwnOverARestart(t *testing.T) {
	for _, exactly := range []bool{false, true} {
		dir := t.TempDir()
		clock := new(fakeClock)
		s, stop := openStore(t, dir, clock.now)
		r := newRigOver(t, Config{}, nil, s)
		r.subscribe("news", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = exactly })
		r.publish("news", "", "a", "b")
		st := r.stream("news", func(q *pubsubpb.StreamingPullRequest) { q.StreamAckDeadlineSeconds = 60 })
		held := receive(t, st, 2)
		if err := r.ack("news", held[0]); err != nil {
			t.Fatal(err)
		}
		r.close()
		stop()

		s, stop = openStore(t, dir, clock.now)
		t.Cleanup(stop)
		r = newRigOver(t, Config{}, nil, s)
		if got := r.pull("news", 10); len(got) != 0 {
			t.Errorf("exactly once %v: %q came while it was held", exactly, texts(got))
		}
		if err := r.ack("news", held[1]); err != nil {
			t.Errorf("exactly once %v: an ack id of before: %v", exactly, err)
		}
		clock.pass(time.Hour)
		if got := r.pull("news", 10); len(got) != 0 {
			t.Errorf("exactly once %v: %q came after it was acknowledged", exactly, texts(got))
		}
	}
}
