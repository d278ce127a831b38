package pubsub

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
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

// TestTheDoorCountsWhatIsNoCall, of gRPC and of REST, with the code that its client is told.
func TestTheDoorCountsWhatIsNoCall(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), nil)
	t.Cleanup(stop)
	traffic := door.NewTraffic("pubsub")
	r := newRigWith(t, Config{}, Options{Store: s, Traffic: traffic})
	r.subscribe("news")
	counted := func(what string) float64 {
		return metricstest.Of(t, traffic)["hikyaku_door_requests_total "+what+" pubsub"]
	}
	topic := "/v1/" + topicName("news")
	for _, c := range []struct {
		what, method, path, body string
		status                   int
		counted                  string
	}{
		{"an unknown path", "GET", "/v1/nothing", "", http.StatusNotFound, "none NotFound"},
		{"a path outside", "GET", "/v2/nothing", "", http.StatusNotFound, "none NotFound"},
		{"a method that the path has not", "POST", topic, "{}", http.StatusMethodNotAllowed, "none NotFound"},
		{"another encoding", "GET", topic + "?alt=proto", "", http.StatusBadRequest, "none InvalidArgument"},
		{"too large a body", "POST", topic + ":publish", strings.Repeat(" ", rest.DefaultMaxBodyBytes+1),
			http.StatusBadRequest, "none InvalidArgument"},
		{"an unknown parameter", "GET", topic + "?nothing=1", "", http.StatusBadRequest, "GetTopic InvalidArgument"},
		{"broken JSON", "POST", topic + ":publish", `{"messages": [`, http.StatusBadRequest,
			"Publish InvalidArgument"},
		{"a call that fails", "POST", topic + ":publish", `{"messages": [{}]}`, http.StatusBadRequest,
			"Publish InvalidArgument"},
		{"a call", "GET", topic, "", http.StatusOK, "GetTopic OK"},
	} {
		before := counted(c.counted)
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+r.addr+c.path,
			strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: %d", c.what, res.StatusCode)
		}
		doortest.Until(t, c.what+" is counted", func() bool { return counted(c.counted) == before+1 })
	}
	for _, method := range []string{"/google.pubsub.v1.Publisher/Nothing", "/nothing/Publish"} {
		before := counted("none Unimplemented")
		err := r.conn.Invoke(t.Context(), method, new(emptypb.Empty), new(emptypb.Empty))
		wantCode(t, err, codes.Unimplemented)
		if got := counted("none Unimplemented"); got != before+1 {
			t.Errorf("%s is counted %v times", method, got-before)
		}
	}
	if got := counted("Publish Canceled"); got != 0 {
		t.Errorf("%v were cancelled", got)
	}
}
