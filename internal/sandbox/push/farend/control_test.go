package farend

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestOtherProcessesTellAndAsk(t *testing.T) {
	s := start(t, Config{Authority: authority(t)})
	control := httptest.NewServer(s.Control())
	defer control.Close()
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, control.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := control.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	first := `{"streams": 7, "latency": {"median": "1ms"}, "faults": [{"do": "refuse", "reason": "Gone", "every": 2}], "devices": [{"one_in": 5}]}`
	if code, text := ask("PUT", "/-/behaviour", first); code != 204 {
		t.Fatal(code, text)
	}
	before := s.Behaviour()
	if code, text := ask("PATCH", "/-/behaviour",
		`{"streams": 0, "faults": [{"do": "silence", "times": 1}]}`); code != 204 {
		t.Fatal(code, text)
	}
	if before.Faults[0].Do != Refuse || *before.Streams != 7 {
		t.Error("a change reached into what went before")
	}
	b := s.Behaviour()
	if *b.Streams != 0 || b.Latency.Median != Duration(time.Millisecond) || b.Faults[0].Do != Silence ||
		len(b.Devices) != 1 {
		t.Errorf("%+v", b)
	}
	code, text := ask("GET", "/-/behaviour", "")
	var back Behaviour
	if err := json.Unmarshal([]byte(text), &back); err != nil || code != 200 || !reflect.DeepEqual(back, b) {
		t.Errorf("%s: %v", text, err)
	}
	for _, wrong := range []string{
		`{"steams": 1}`, `{"faults": [{"do": "explode"}]}`, `{"faults": [{"do": "refuse", "reason": "x"}]}`,
		`{"latency": {"median": "-1s"}}`,
		`{"newcomers": {"do": "kill"}}`, `{"devices": [{}]}`, `{"faults": [{"do": "silence", "probability": 2}]}`, `[]`,
	} {
		if code, text := ask("PATCH", "/-/behaviour", wrong); code != 400 || text == "" {
			t.Errorf("%s: %d %s", wrong, code, text)
		}
	}
	if code, _ := ask("PUT", "/-/behaviour", "{}"); code != 204 {
		t.Error(code)
	}
	resp, err := library(t, s).Post(s.URL()+"/phone/42", "", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for path, want := range map[string]string{"/-/count?id=42": "1\n", "/-/count?device=phone": "1\n",
		"/-/count?id=43": "0\n"} {
		if _, text := ask("GET", path, ""); text != want {
			t.Errorf("%s: %s", path, text)
		}
	}
	var n Counts
	if _, text := ask("GET", "/-/counts", ""); json.Unmarshal([]byte(text), &n) != nil || n.Accepted != 1 ||
		n.Messages != 1 {
		t.Errorf("%s", text)
	}
	for _, path := range []string{"/-/goaway?unprocessed=0.5", "/-/reset?processed=true", "/-/forget"} {
		if code, text := ask("POST", path, ""); code != 204 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if code, _ := ask("POST", "/-/goaway?unprocessed=2", ""); code != 400 {
		t.Errorf("a share of 2: %d", code)
	}
	if n := s.Counts(); n.Accepted != 0 || n.Messages != 0 {
		t.Errorf("after forgetting: %+v", n)
	}
}

func TestSendersThatSpeakHTTP1AreServedToo(t *testing.T) {
	s := start(t, Config{Authority: authority(t), HTTP1: true, Keep: 5, Behaviour: Behaviour{
		Latency: Latency{Fixed: Duration(time.Millisecond)},
		Devices: []Device{{Tokens: []string{"gone"}, Faults: []Fault{{Do: Refuse, Reason: "Gone", RetryAfter: 3}}}},
	}})
	c := library(t, s)
	c.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	for path, want := range map[string]int{"/phone/1": 200, "/gone/2": 410} {
		resp, err := c.Post(s.URL()+path, "", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.ProtoMajor != 1 || resp.StatusCode != want || want == 410 && resp.Header.Get("Retry-After") != "3" {
			t.Errorf("%s: %s %d %v", path, resp.Proto, resp.StatusCode, resp.Header)
		}
	}
	if n := s.Counts(); n.Accepted != 1 || n.Refused["Gone"] != 1 || s.Count("1") != 1 || len(s.Seen()) != 2 {
		t.Errorf("%+v", n)
	}
}

func TestAnAuthorityIsTakenUpAgain(t *testing.T) {
	a := authority(t)
	again, err := ReadAuthority(a.PEM, a.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Authority: again})
	s.config.Authority = a // whom the client trusts
	resp, err := library(t, s).Post(s.URL()+"/phone/1", "", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, err := ReadAuthority([]byte("x"), []byte("y")); err == nil {
		t.Error("rubbish was taken for an authority")
	}
}

func TestCloseWaitsForNobodyWhoHangs(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Latency: Latency{Fixed: Duration(time.Minute)},
		Faults: []Fault{{Do: SlowRead, For: Duration(time.Hour), Every: 2}}}})
	c := dial(t, s)
	c.limit()
	c.send("/a/1")
	c.send("/a/2")
	eventually(t, "they have come", func() bool { return s.Counts().Requests == 2 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if f := c.read(); f != nil {
		t.Errorf("%v after the end", f)
	}
}
