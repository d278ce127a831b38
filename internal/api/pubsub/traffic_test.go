package pubsub

import (
	"io"
	"net/http"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestTheDoorCountsWhatGoesThroughIt(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), nil)
	t.Cleanup(stop)
	traffic := door.NewTraffic("pubsub")
	r := newRigWith(t, Config{}, Options{Store: s, Traffic: traffic})
	r.subscribe("news")
	r.publish("news", "", "a")
	_, err := r.pub.GetTopic(t.Context(), &pubsubpb.GetTopicRequest{Topic: topicName("nothing")})
	wantCode(t, err, codes.NotFound)
	res, err := http.Get("http://" + r.addr + "/v1/" + topicName("news"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	r.stream("news")
	doortest.Until(t, "the stream has taken the message and waits", func() bool {
		return r.claimed("news") == 1 && metricstest.Of(t, traffic)["hikyaku_door_waiting pubsub messages"] == 1
	})
	got := metricstest.Of(t, traffic)
	for name, want := range map[string]float64{
		"hikyaku_door_requests_total CreateTopic OK pubsub": 1, "hikyaku_door_requests_total Publish OK pubsub": 1,
		"hikyaku_door_requests_total GetTopic OK pubsub":       1,
		"hikyaku_door_requests_total GetTopic NotFound pubsub": 1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, not %v", name, got[name], want)
		}
	}
	for _, name := range []string{"hikyaku_door_connections pubsub", "hikyaku_door_bytes_total received pubsub",
		"hikyaku_door_bytes_total sent pubsub"} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
}
