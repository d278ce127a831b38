package lambda

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// Events count while they are worked on, and what a function returned until its client has read it. Who finds no room
// is told to try again, and nothing was invoked.
func TestEventsAndResultsCountUntilTheyAreRead(t *testing.T) {
	r := newRig(t)
	all := door.NewBusy(64 << 20)
	all.Patience = 50 * time.Millisecond
	r.door.busy = all
	r.create("f", nil)
	doortest.Until(t, "the deployment's room is given back", func() bool { return all.Used() == 0 })
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer := strings.Repeat("x", 6_200_000)
	event := `{"answer":"` + answer + `"}`
	fmt.Fprintf(conn, "POST %s/f/invocations HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", functions,
		len(event), event)
	doortest.Until(t, "event and result are counted", func() bool { return all.Used() > 6*6_200_000 })
	rest := all.Limit() - all.Used()
	if !all.Try(rest) {
		t.Fatal("it has grown")
	}
	if g := r.call("POST", functions+"/f/invocations",
		`{"answer":"`+strings.Repeat("y", 100_000)+`"}`); g.StatusCode != http.StatusTooManyRequests ||
		!strings.Contains(g.text, "too much is being sent") {
		t.Errorf("without room: %s %.200s", g.Status, g.text)
	}
	all.Give(rest)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || string(text) != `"`+answer+`"` {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	res.Body.Close()
	doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
}

// What becomes of the values of a URL's answer counts before it is decoded.
func TestManyShortValuesOfAURLsAnswerNeedRoom(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	r.call("POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE"}`)
	all := door.NewBusy(64 << 20)
	r.door.busy = all
	if g := r.call("GET", "/lambda-url/f/cookies", ""); g.StatusCode != http.StatusBadGateway {
		t.Errorf("%s %.200s", g.Status, g.text)
	}
	doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
}

// A list of functions ends where there is no room for its next one, and says where it goes on.
func TestAListOfFunctionsEndsWithItsRoom(t *testing.T) {
	r := newRig(t)
	const n = 12
	for i := range n {
		r.create(fmt.Sprintf("f%02d", i), map[string]any{"Environment": map[string]any{
			"Variables": map[string]string{"LONG": strings.Repeat("x", 3000)}}})
	}
	all := door.NewBusy(1 << 20)
	all.Patience = 50 * time.Millisecond
	r.door.busy = all
	if !all.Try(1<<20 - 128<<10) {
		t.Fatal("there is no room")
	}
	var names []string
	pages := 0
	for marker := ""; ; {
		var page struct {
			Functions  []struct{ FunctionName string }
			NextMarker string
		}
		g := r.call("GET", functions+"/?MaxItems=50&Marker="+marker, "")
		if err := json.Unmarshal([]byte(g.text), &page); err != nil || g.StatusCode != http.StatusOK {
			t.Fatalf("%s %.200s: %v", g.Status, g.text, err)
		}
		for _, f := range page.Functions {
			names = append(names, f.FunctionName)
		}
		pages++
		if marker = page.NextMarker; marker == "" {
			break
		}
	}
	if len(names) != n || pages < 2 {
		t.Errorf("%d pages with %q", pages, names)
	}
	all.Try(all.Limit() - all.Used())
	if g := r.call("GET", functions+"/", ""); g.StatusCode != http.StatusTooManyRequests {
		t.Errorf("without room: %s %.200s", g.Status, g.text)
	}
}
