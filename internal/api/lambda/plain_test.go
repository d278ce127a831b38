package lambda

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// raw is a connection of a client, and whether its requests went around net/http: its answers tell by the order of
// their headers.
type raw struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (r *rig) dial(t *testing.T) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{t, conn, bufio.NewReaderSize(conn, 64<<10)}
}

func (c *raw) ask(method, path, body string, fields ...string) (g got, plain bool) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s", method,
		path, strings.Join(append(fields, ""), "\r\n"), len(body), body); err != nil {
		c.t.Fatal(err)
	}
	head, err := c.in.Peek(1)
	if err == nil {
		head, err = c.in.Peek(c.in.Buffered())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	_, fieldsOf, _ := strings.Cut(string(head), "\r\n")
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return got{resp, string(text)}, strings.HasPrefix(fieldsOf, "X-Amzn-Requestid: ")
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func TestAnInvocationIsAnsweredTheSameOnBothWays(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	around, through := r.dial(t), r.dial(t)
	if g, plain := through.ask("GET", functions+"/f", ""); plain || g.StatusCode != http.StatusOK {
		t.Fatalf("a question is answered with %s, plain: %v", g.Status, plain)
	}
	for name, c := range map[string]struct {
		path, event string
		fields      []string
	}{
		"an answer":                 {"/f/invocations", `{"answer":[1,2]}`, nil},
		"no event":                  {"/f/invocations", "", nil},
		"an error":                  {"/f/invocations", `{"fail":"on purpose"}`, nil},
		"an alias that is not":      {"/f:other/invocations", "{}", nil},
		"a qualifier":               {"/f/invocations?Qualifier=$LATEST", `{"answer":3}`, nil},
		"a function that is not":    {"/g/invocations", "{}", nil},
		"no JSON":                   {"/f/invocations", "{", nil},
		"a dry run":                 {"/f/invocations", "{}", []string{"X-Amz-Invocation-Type: DryRun"}},
		"an event":                  {"/f/invocations", "{}", []string{"X-Amz-Invocation-Type: Event"}},
		"a type that is none":       {"/f/invocations", "{}", []string{"X-Amz-Invocation-Type: Both"}},
		"a context that is no JSON": {"/f/invocations", "{}", []string{"X-Amz-Client-Context: e30=e30="}},
		"another site":              {"/f/invocations", "{}", []string{"Sec-Fetch-Site: cross-site"}},
	} {
		one, plain := around.ask("POST", functions+c.path, c.event, c.fields...)
		other, second := through.ask("POST", functions+c.path, c.event, c.fields...)
		if !plain || second && one.StatusCode != http.StatusNoContent { // whose few headers have one order
			t.Errorf("%s: the first one is plain: %v, the second one: %v", name, plain, second)
		}
		a, b := anyID.ReplaceAllString(one.text, "ID"), anyID.ReplaceAllString(other.text, "ID")
		if one.Status != other.Status || a != b {
			t.Errorf("%s: answered with %s %s, and through net/http with %s %s", name, one.Status, a, other.Status, b)
		}
		if a, b := slices.Sorted(maps.Keys(one.Header)), slices.Sorted(maps.Keys(other.Header)); !slices.Equal(a, b) ||
			one.Header.Get("Content-Type") != other.Header.Get("Content-Type") {
			t.Errorf("%s: its headers are %v, and through net/http %v", name, one.Header, other.Header)
		}
	}
}

func TestWhatIsNoInvocationGoesThroughNetHTTP(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	for path, status := range map[string]int{"/f/response-streaming-invocations": 200, "/f/versions": 201,
		"/f/nothing": 404} {
		c := r.dial(t)
		if g, plain := c.ask("POST", functions+"/f/invocations", "{}"); g.StatusCode != 200 || !plain {
			t.Errorf("%s: answered with %s, plain: %v", path, g.Status, plain)
		}
		if g, plain := c.ask("POST", functions+path, "{}"); g.StatusCode != status || plain {
			t.Errorf("%s: answered with %s, plain: %v", path, g.Status, plain)
		}
		if status == 404 { // which closes the connection
			continue
		}
		if g, plain := c.ask("POST", functions+"/f/invocations", "{}"); g.StatusCode != 200 || plain {
			t.Errorf("behind %s: answered with %s, plain: %v", path, g.Status, plain)
		}
	}
}
