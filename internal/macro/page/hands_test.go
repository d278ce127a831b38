package page_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// held is a request that holds something.
type held struct {
	*http.Response
	letGo context.CancelFunc
}

// hold begins to hold something, and returns when the page has accepted it.
func (s *stand) hold(t *testing.T, body string) *held {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/hold", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s", body, answer.Status)
	}
	h := &held{answer, func() { cancel(); answer.Body.Close() }}
	t.Cleanup(h.letGo)
	return h
}

func (s *stand) runs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.played, "; ")
}

func TestAPadIsHeldUntilTheBrowserLetsGoOrGoesAway(t *testing.T) {
	s := open(t)
	h := s.hold(t, `{"press":"lp","player":1,"hand":"a"}`)
	s.until(t, func(n news) bool { return n.Playing && n.Frame > 10 }) // longer than a press
	if status, body := s.post(t, "/run", `{"text":"hp 2"}`); status != 409 || !strings.Contains(body, `"held"`) {
		t.Errorf("a macro beside it: %d %s", status, body)
	}
	h.letGo()
	n := s.until(t, ended(1))
	if n.Last.Stopped || n.Last.Error != "" || n.Last.Played < 10 {
		t.Errorf("%+v", n.Last)
	}
	if s.runs() != "lp" {
		t.Errorf("played %s", s.runs())
	}
}

func TestATapIsPressedHoweverShort(t *testing.T) {
	s := open(t)
	for i := range 5 {
		s.hold(t, `{"press":"lp","player":1,"hand":"a"}`).letGo()
		if n := s.until(t, ended(i+1)); n.Last.Played < 1 || n.Last.Error != "" {
			t.Fatalf("%+v", n.Last)
		}
	}
}

func TestWhatIsHeldWithSeveralHandsIsPressedTogether(t *testing.T) {
	s := open(t)
	down := s.hold(t, `{"press":"2","player":1,"hand":"a"}`)
	s.until(t, func(n news) bool { return n.Playing && n.Frame > 2 })
	kick := s.hold(t, `{"press":"mk","player":1,"hand":"b"}`)
	s.until(t, func(n news) bool { return n.Playing && n.Last != nil && n.Last.Number == 1 && n.Frame > 2 })
	other := s.hold(t, `{"press":"4","player":2,"mirror":true,"hand":"c"}`)
	s.until(t, func(n news) bool { return n.Playing && n.Last != nil && n.Last.Number == 2 && n.Frame > 2 })
	down.letGo()
	s.until(t, func(n news) bool { return n.Playing && n.Last != nil && n.Last.Number == 3 && n.Frame > 2 })
	kick.letGo()
	s.until(t, func(n news) bool { return n.Playing && n.Last != nil && n.Last.Number == 4 && n.Frame > 2 })
	other.letGo()
	s.until(t, ended(5))
	if want := "2; 2,mk; 2,mk 6; mk 6; 6"; s.runs() != want {
		t.Errorf("played %s, want %s", s.runs(), want)
	}
}

// TestOneHandPressesOneThingAfterTheOther: what replaces something does not press it together with that.
func TestOneHandPressesOneThingAfterTheOther(t *testing.T) {
	s := open(t)
	for i, press := range []string{"4", "6", "6"} {
		s.hold(t, `{"press":"`+press+`","player":1,"hand":"a"}`)
		s.until(t, func(n news) bool { return n.Playing && n.Number == i+1 && n.Frame > 0 })
	}
	s.post(t, "/stop", "{}")
	if n := s.until(t, ended(3)); !n.Last.Stopped {
		t.Errorf("%+v", n.Last)
	}
	if want := "4; 6; 6"; s.runs() != want {
		t.Errorf("played %s, want %s", s.runs(), want)
	}
}

func TestStopAndTheLongestHoldLetGo(t *testing.T) {
	s := open(t)
	h := s.hold(t, `{"press":"hk","player":1,"hand":"a"}`)
	s.until(t, func(n news) bool { return n.Playing && n.Frame > 0 })
	s.post(t, "/stop", "{}")
	n := s.until(t, ended(1))
	if !n.Last.Stopped {
		t.Errorf("%+v", n.Last)
	}
	for sc := bufio.NewScanner(h.Body); sc.Scan(); { // the request ends too
	}

	s = open(t, func(c *config) { c.Hold = 20 * time.Millisecond })
	h = s.hold(t, `{"press":"hk","player":1,"hand":"a"}`)
	for sc := bufio.NewScanner(h.Body); sc.Scan(); {
	}
	if n := s.until(t, ended(1)); n.Last.Error != "" || n.Last.Played < 1 {
		t.Errorf("%+v", n.Last)
	}
}

func TestHoldsAreRefusedWithTheirReason(t *testing.T) {
	s := open(t)
	for _, bad := range []string{
		`{"press":"lq","player":1}`, `{"press":"236p","player":1}`, `{"press":"lp 2","player":1}`,
		`{"press":"lp","player":3}`, `{"press":"lp＃","player":1}`, `{"press":"","player":1}`,
		`{"press":"lp","player":1,"hand":"` + strings.Repeat("x", 65) + `"}`,
	} {
		if status, body := s.post(t, "/hold", bad); status != 400 || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
	s.post(t, "/run", `{"text":"hp 1000000"}`)
	status, body := s.post(t, "/hold", `{"press":"lp","player":1}`)
	if status != 409 || !strings.Contains(body, `"busy"`) {
		t.Errorf("beside a macro: %d %s", status, body)
	}
	s.post(t, "/stop", "{}")
	s.until(t, ended(1))
	h := s.hold(t, `{"press":"ps","player":1}`)
	if n := s.until(t, ended(2)); n.Last.Error != "the pad is not there" {
		t.Errorf("%+v", n.Last)
	}
	for sc := bufio.NewScanner(h.Body); sc.Scan(); {
	}
}
