package lambda

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestTheDoorCountsWhatGoesThroughIt(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("f", nil)
	for range 3 {
		r.invoke("f", `{}`)
	}
	r.invoke("absent", `{}`)
	r.invoke("f", `{}`, "X-Amz-Invocation-Type", "Event")
	r.ok(404, "GET", functions+"/absent", "")
	r.ok(404, "GET", "/2015-03-31/toasters", "")
	r.ok(201, "POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE"}`)
	r.ok(201, "GET", "/lambda-url/f/", "")
	got := metricstest.Of(t, r.traffic)
	for name, want := range map[string]float64{
		"CreateFunction 201": 1, "InvokeFunction 200": 3, "InvokeFunction 202": 1,
		"InvokeFunction ResourceNotFoundException": 1, "GetFunction ResourceNotFoundException": 1,
		"none UnknownOperationException": 1, "InvokeFunctionUrl 2xx": 1,
	} {
		if n := got["hikyaku_door_requests_total "+name+" lambda"]; n != want {
			t.Errorf("%s: %v, not %v", name, n, want)
		}
	}
	for _, name := range []string{"hikyaku_door_connections lambda", "hikyaku_door_bytes_total received lambda",
		"hikyaku_door_bytes_total sent lambda"} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}
