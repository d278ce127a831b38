package sqs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
)

var update = flag.Bool("update", false, "write golden files anew")

// A step of a story is a request, written as JSON, or something that happens between requests.
type step struct {
	action wire.Action
	json   string            // $name stands for what an earlier step kept
	keep   map[string]string // names for parts of the answer: $name → how the JSON protocol calls the text
	pass   time.Duration     // no request: the clock goes on
}

// Every story runs against a door of its own, once in each protocol, and its requests and answers are written down
// under testdata. What differs from run to run (ids, times, receipt handles) is replaced by words.
func TestStories(t *testing.T) {
	for name, story := range stories {
		for _, protocol := range []wire.Protocol{wire.JSON, wire.Query} {
			t.Run(name+"/"+protocol.String(), func(t *testing.T) {
				r := newRig(t)
				teller := &teller{r: r, protocol: protocol,
					kept: map[string]string{"URL": "http://localhost:9324/000000000000/",
						"ARN": "arn:aws:sqs:us-east-1:000000000000:"}}
				for _, s := range story {
					teller.tell(s)
				}
				teller.compare(filepath.Join("testdata", protocol.String(), name+".txt"))
			})
		}
	}
}

func TestStoriesTellOfEveryAction(t *testing.T) {
	told := map[wire.Action]bool{}
	for _, story := range stories {
		for _, s := range story {
			told[s.action] = true
		}
	}
	for _, action := range wire.Actions() {
		if !told[action] {
			t.Errorf("no story tells of %s", action)
		}
	}
}

// A teller runs a story.
type teller struct {
	r        *rig
	protocol wire.Protocol
	kept     map[string]string
	text     bytes.Buffer
}

func (x *teller) tell(s step) {
	t := x.r.t
	t.Helper()
	if s.action == "" {
		x.r.clock.pass(s.pass)
		fmt.Fprintf(&x.text, "… %s later\n\n", s.pass)
		return
	}
	written := s.json
	filled := os.Expand(written, func(name string) string {
		value, ok := x.kept[name]
		if !ok {
			t.Fatalf("%s: nothing was kept as $%s", s.action, name)
		}
		return value
	})
	req, shown := x.request(s.action, written, filled)
	req.Host = "localhost:9324"
	res, err := x.r.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&x.text, "%s\n\n", shown)
	fmt.Fprintf(&x.text, "%s\n", res.Status)
	for _, name := range []string{"Content-Type", "X-Amzn-Query-Error", "X-Amzn-Requestid"} {
		if value := res.Header.Get(name); value != "" {
			fmt.Fprintf(&x.text, "%s: %s\n", name, steady(value))
		}
	}
	fmt.Fprintf(&x.text, "%s\n\n\n", steady(string(body)))
	for name, part := range s.keep {
		x.kept[name] = x.find(s.action, string(body), part)
	}
}

// request makes a request of a step, and what is written down of it.
func (x *teller) request(action wire.Action, written, filled string) (req *http.Request, shown string) {
	t := x.r.t
	t.Helper()
	post := func(contentType, body string) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.r.base+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		return req
	}
	if x.protocol == wire.JSON {
		req = post("application/x-amz-json-1.0", filled)
		req.Header.Set("X-Amz-Target", "AmazonSQS."+string(action))
		return req, "X-Amz-Target: AmazonSQS." + string(action) + "\n" + written
	}
	return post("application/x-www-form-urlencoded", form(t, action, filled)),
		strings.ReplaceAll(form(t, action, strings.ReplaceAll(written, "$", "§")), url.QueryEscape("§"), "$")
}

// find returns a text of an answer by the name that the JSON protocol gives it: the first one of that name.
func (x *teller) find(action wire.Action, body, name string) string {
	x.r.t.Helper()
	pattern := `"` + name + `":"([^"]*)"`
	if x.protocol == wire.Query {
		pattern = "<" + name + ">([^<]*)<"
	}
	match := regexp.MustCompile(pattern).FindStringSubmatch(body)
	if match == nil {
		x.r.t.Fatalf("%s: there is no %s in %s", action, name, body)
	}
	return match[1]
}

// What differs from run to run.
var unsteady = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`("ReceiptHandle":"|<ReceiptHandle>)[A-Za-z0-9_=-]{64}`), "${1}RECEIPT"},
	{regexp.MustCompile(`(Value )[A-Za-z0-9_=-]{64}( for parameter ReceiptHandle)`), "${1}RECEIPT${2}"},
	{regexp.MustCompile(`(handle (?:"|&quot;|\\"))[A-Za-z0-9_=-]{64}`), "${1}RECEIPT"},
	{regexp.MustCompile(`("TaskHandle":"|<TaskHandle>)[A-Za-z0-9_=-]+`), "${1}TASK"},
	{regexp.MustCompile(`\b1[0-9]{12}\b`), "MILLISECONDS"},
	{regexp.MustCompile(`\b1[0-9]{9}\b`), "SECONDS"},
}

func steady(text string) string {
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.with)
	}
	return text
}

func (x *teller) compare(file string) {
	t := x.r.t
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, x.text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), x.text.String()); diff != "" {
		t.Errorf("%s: want -, got +\n%s", file, diff)
	}
}

// inForms are the names of lists and maps in forms, and how the halves of a map's pairs are called.
var inForms = map[string]struct{ name, key, value string }{
	"Attributes":                  {"Attribute", "Name", "Value"},
	"tags":                        {"Tag", "Key", "Value"},
	"Tags":                        {"Tag", "Key", "Value"},
	"MessageAttributes":           {"MessageAttribute", "Name", "Value"},
	"MessageSystemAttributes":     {"MessageSystemAttribute", "Name", "Value"},
	"AttributeNames":              {"AttributeName", "", ""},
	"MessageAttributeNames":       {"MessageAttributeName", "", ""},
	"MessageSystemAttributeNames": {"MessageSystemAttributeName", "", ""},
	"TagKeys":                     {"TagKey", "", ""},
	"AWSAccountIds":               {"AWSAccountId", "", ""},
	"Actions":                     {"ActionName", "", ""},
}

// form writes a request of the JSON protocol as a form.
func form(t *testing.T, action wire.Action, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var in map[string]any
	if err := decoder.Decode(&in); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	values := url.Values{"Action": {string(action)}, "Version": {wire.Version}}
	flatten(values, action, "", in)
	return values.Encode()
}

func flatten(values url.Values, action wire.Action, prefix string, in map[string]any) {
	for name, value := range in {
		as := inForms[name]
		switch value := value.(type) {
		case []any:
			if name == "Entries" {
				as.name = string(action) + "RequestEntry"
			}
			for i, item := range value {
				at := fmt.Sprintf("%s%s.%d", prefix, as.name, i+1)
				if entry, ok := item.(map[string]any); ok {
					flatten(values, action, at+".", entry)
				} else {
					values.Set(at, fmt.Sprint(item))
				}
			}
		case map[string]any:
			keys := make([]string, 0, len(value))
			for key := range value {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			for i, key := range keys {
				at := fmt.Sprintf("%s%s.%d.", prefix, as.name, i+1)
				values.Set(at+as.key, key)
				if of, ok := value[key].(map[string]any); ok {
					flatten(values, action, at+as.value+".", of)
				} else {
					values.Set(at+as.value, fmt.Sprint(value[key]))
				}
			}
		default:
			values.Set(prefix+name, fmt.Sprint(value))
		}
	}
}
