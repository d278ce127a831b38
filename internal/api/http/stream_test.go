package http_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const ndjson = "application/x-ndjson"

// stream puts lines and returns the answers, the last of which is the summary.
func (r *rig) stream(path, lines string) []door.StreamAnswer {
	r.t.Helper()
	raw := r.want(200, "POST", path, lines, "Content-Type", ndjson)
	var answers []door.StreamAnswer
	for text := range strings.Lines(string(raw.body)) {
		var a door.StreamAnswer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			r.t.Fatalf("%v: %q", err, text)
		}
		answers = append(answers, a)
	}
	if len(answers) == 0 || answers[len(answers)-1].Summary == nil {
		r.t.Fatalf("no summary: %s", raw.body)
	}
	return answers
}

func TestTenThousandLinesAreEachAnswered(t *testing.T) {
	const n = 10_000
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "{\"body\": \"message %d\", \"attributes\": {\"n\": %d}}\n", i, i)
	}
	got := r.stream("/default/queues/q/messages", lines.String())
	if len(got) != n+1 {
		t.Fatalf("%d answers", len(got))
	}
	for i, a := range got[:n] {
		if a.Line != i+1 || a.Problem != nil || a.PutResult == nil || a.Sequence != uint64(i+1) {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
	if sum := *got[n].Summary; sum != (door.StreamSummary{Lines: n, Put: n}) {
		t.Errorf("summary: %+v", sum)
	}
	if s := r.stats("q"); s.Ready != n {
		t.Errorf("%d messages", s.Ready)
	}
}

func TestALineThatIsRefusedHoldsUpNoOther(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/rows", `{"columns": ["n int not null"]}`)
	lines := strings.Join([]string{
		`{"json": {"n": 1}}`,
		`{"json": {"n": "one"}}`,
		``,
		`not json`,
		`{"json": {"n": 2}, "dedup": "a"}`,
		`{"json": {"n": 3}, "body": "twice"}`,
		`{"json": {"n": 4}, "dedup": "a"}`,
		`{"json": {"n": 5}}`, // without a line end
	}, "\n")
	want := map[int]string{2: "mismatch", 4: "bad-request", 6: "bad-request"}
	check := func(got []door.StreamAnswer, all bool) {
		t.Helper()
		for _, a := range got[:len(got)-1] {
			problem := ""
			if a.Problem != nil {
				problem = strings.TrimPrefix(a.Problem.Type, "urn:hikyaku:")
			}
			if problem != want[a.Line] || !all && problem == "" {
				t.Errorf("line %d: %+v", a.Line, a.Problem)
			}
		}
	}
	got := r.stream("/default/queues/rows/messages", lines)
	check(got, true)
	if sum := *got[len(got)-1].Summary; sum != (door.StreamSummary{Lines: 7, Put: 3, Duplicates: 1, Refused: 3}) {
		t.Errorf("summary: %+v", sum)
	}
	got = r.stream("/default/queues/rows/messages?answers=failures", lines)
	check(got, false)
	if len(got) != 4 {
		t.Errorf("%d answers", len(got))
	}
	if s := r.stats("rows"); s.Ready != 5 {
		t.Errorf("%+v", s)
	}
	r.refused("bad-request", "POST", "/default/queues/rows/messages?answers=some", lines, "Content-Type", ndjson)
	r.refused("bad-request", "POST", "/default/queues/rows/messages?key=k", lines, "Content-Type", ndjson)
}

func TestAStreamStopsAtAFullQueueAndSaysWhere(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", `{"max_messages": 3}`)
	r.want(200, "POST", "/default/queues/q/messages", `{"messages": [{}, {}, {}]}`)
	got := r.stream("/default/queues/q/messages", "{}\n{}\n")
	if len(got) != 1 || got[0].Summary.Stopped == nil || got[0].Summary.Stopped.Type != "urn:hikyaku:queue-full" ||
		got[0].Summary.Put != 0 {
		t.Errorf("%+v", got)
	}
	got = r.stream("/default/topics/missing/messages", "{}\n")
	if len(got) != 1 || got[0].Summary.Stopped == nil || got[0].Summary.Stopped.Type != "urn:hikyaku:not-found" {
		t.Errorf("%+v", got)
	}
}

func TestALineThatIsTooLongEndsTheStream(t *testing.T) {
	r := start(t, settings{config: door.Config{MaxBodyBytes: 1000}})
	r.want(201, "PUT", "/default/queues/q", "")
	got := r.stream("/default/queues/q/messages", "{}\n"+`{"body": "`+strings.Repeat("x", 1000)+"\"}\n{}\n")
	if sum := got[len(got)-1].Summary; sum.Put != 1 || sum.Stopped == nil ||
		sum.Stopped.Type != "urn:hikyaku:too-large" || !strings.Contains(sum.Stopped.Detail, "line 2") {
		t.Errorf("%+v", sum)
	}
}

// openStream begins a stream that the test writes to and reads from itself.
func (r *rig) openStream(path string) (w *io.PipeWriter, answers *bufio.Scanner) {
	r.t.Helper()
	body, w := io.Pipe()
	req, err := http.NewRequestWithContext(r.t.Context(), "POST", r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", ndjson)
	got := make(chan *http.Response, 1)
	go func() {
		answer, err := r.http.Do(req)
		if err != nil {
			r.t.Error(err)
		}
		got <- answer
	}()
	if _, err := io.WriteString(w, "{\"body\": \"first\"}\n"); err != nil {
		r.t.Fatal(err)
	}
	answer := <-got
	if answer == nil {
		r.t.FailNow()
	}
	r.t.Cleanup(func() { answer.Body.Close() })
	return w, bufio.NewScanner(answer.Body)
}

func TestALineIsAnsweredWhileTheStreamGoesOn(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	w, answers := r.openStream("/default/queues/q/messages")
	for i := range 5 {
		if !answers.Scan() || !strings.Contains(answers.Text(), fmt.Sprintf(`"sequence":%d`, i+1)) {
			t.Fatalf("%s, %v", answers.Text(), answers.Err())
		}
		if _, err := io.WriteString(w, "{}\n"); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	last := ""
	for answers.Scan() {
		last = answers.Text()
	}
	if !strings.Contains(last, `"put":6`) {
		t.Errorf("%s", last)
	}
}

func TestAServerThatStopsEndsStreamsWithASummary(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	w, answers := r.openStream("/default/queues/q/messages")
	defer w.Close()
	if !answers.Scan() {
		t.Fatal(answers.Err())
	}
	closed := make(chan error)
	go func() { closed <- r.server.Close(t.Context()) }()
	if !answers.Scan() || !strings.Contains(answers.Text(), `"stopped":{"type":"urn:hikyaku:closed"`) {
		t.Errorf("%s, %v", answers.Text(), answers.Err())
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestAStreamThatBreaksOffKeepsWhatWasAnswered(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /default/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"%s\r\nContent-Length: 1000\r\n\r\n{\"body\": \"whole\"}\n{\"body\": \"ha", ndjson)
	waitFor(t, func() bool { return r.stats("q").Ready == 1 })
	conn.Close()
	if err := r.server.Close(t.Context()); err != nil { // waits for the stream's end
		t.Error(err)
	}
	if s, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: "q"}); err != nil || s.Ready != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAStreamingClientThatNeverReadsIsCutOff(t *testing.T) {
	r := start(t, settings{config: door.Config{StallTimeout: 100 * time.Millisecond}})
	r.want(201, "PUT", "/default/queues/q", "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /default/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"%s\r\nTransfer-Encoding: chunked\r\n\r\n", ndjson)
	line := strings.Repeat("x\n", 2000) // each is refused with a long answer
	for {
		if _, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(line), line); err != nil {
			break // cut off
		}
	}
}

func messages(bodies ...string) iter.Seq2[door.Message, error] {
	return func(yield func(door.Message, error) bool) {
		for _, b := range bodies {
			if !yield(door.NewMessage([]byte(b)), nil) {
				return
			}
		}
	}
}

func TestTheClientStreams(t *testing.T) {
	r := start(t, settings{})
	c := r.client("")
	q := queue.Name{Namespace: "default", Name: "q"}
	if _, err := c.CreateQueue(t.Context(), q, door.Definition{}); err != nil {
		t.Fatal(err)
	}
	many := func(yield func(door.Message, error) bool) {
		for i := range 10_000 {
			if !yield(door.NewMessage(fmt.Appendf(nil, "%d", i)), nil) {
				return
			}
		}
	}
	n := 0
	sum, err := c.PutStream(t.Context(), q, many, func(a door.StreamAnswer) error {
		n++
		if a.Line != n || a.Problem != nil {
			return fmt.Errorf("answer %d: %+v", n, a)
		}
		return nil
	})
	if err != nil || sum != (door.StreamSummary{Lines: 10_000, Put: 10_000}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum, err := c.PublishStream(t.Context(), q, messages("a", "\xff"), nil); err != nil || sum.Put != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	enough := errors.New("enough")
	if _, err := c.PutStream(t.Context(), q, many, func(door.StreamAnswer) error { return enough }); !errors.Is(err,
		enough) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken source")
	failing := func(yield func(door.Message, error) bool) {
		_ = yield(door.NewMessage(nil), nil) && yield(door.Message{}, broken)
	}
	if _, err := c.PutStream(t.Context(), q, failing, nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	missing := queue.Name{Namespace: "default", Name: "missing"}
	if _, err := c.PutStream(t.Context(), missing, many, nil); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
