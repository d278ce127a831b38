//go:build linux

package prometheus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

const (
	rules     = root + "/packaging/prometheus/hikyaku.rules.yml"
	rulesTest = root + "/packaging/prometheus/hikyaku.test.yml"
	dashboard = root + "/packaging/grafana/hikyaku.json"
	explained = root + "/docs/alerts.md"
)

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s\nscripts/need-clients prometheus installs it", strings.Join(args, " "), err, out)
	}
}

func TestEachAlertComesWhenItHasToAndOnlyThen(t *testing.T) {
	promtool(t, "check", "rules", rules)
	promtool(t, "test", "rules", rulesTest)
	tested, err := os.ReadFile(rulesTest)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(explained)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range alerts(t) {
		if !bytes.Contains(tested, []byte("alertname: "+name+"\n")) {
			t.Errorf("no test has %s come", name)
		}
		if !bytes.Contains(page, []byte("\n## "+name+"\n")) {
			t.Errorf("docs/alerts.md does not explain %s", name)
		}
	}
}

func alerts(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	if len(names) < 10 {
		t.Fatalf("there are only %d alerts", len(names))
	}
	return names
}

// started runs a program that ends with the test, and whose words are shown when it fails.
func started(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v\nscripts/need-clients prometheus installs what is missing", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(name), said.String())
		}
	})
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// get asks for JSON.
func get(t *testing.T, address string, into any) error {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w: %s", r.Status, err, data)
	}
	return nil
}

// right is the secret of the user.
const right = "not-for-production"

// watched is a server of ours with a Prometheus that looks at it.
type watched struct {
	server, prometheus string // addresses
}

func watch(t *testing.T) *watched {
	t.Helper()
	free, err := freeport.Find(2)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{server: free[0], prometheus: free[1]}
	absolute, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	started(t, binary, "serve", "-c", written(t, "hikyaku.yaml", fmt.Sprintf(`data_dir: "%[1]s"
users:
  - { name: ops, secret: not-for-production, grants: [{ can: [put, take, admin], on: ["*"] }] }
api: { http: { listen: "%[2]s" }, mysql: { off: true }, pubsub: { off: true }, sqs: { off: true }, lambda: { off: true } }
queues: { jobs: { dead_letter: graves }, graves: {}, out: {} }
sources: { in: { type: queue, queue: out } }
sinks: { kept: { type: file, inputs: [in], path: "%[1]s/kept" } }
`, t.TempDir(), w.server)))
	started(t, "prometheus", "--config.file="+written(t, "prometheus.yml", fmt.Sprintf(`
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ["%s"]
scrape_configs:
  - job_name: hikyaku
    basic_auth: { username: ops, password: not-for-production }
    static_configs: [{ targets: ["%s"] }]
`, absolute, w.server)), "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+w.prometheus)
	waittest.Until(t, "Prometheus has looked at the server", func() bool {
		return len(w.ask(t, `up{job="hikyaku"} == 1`)) == 1
	})
	return w
}

// ask has Prometheus evaluate an expression; nil also when it cannot be reached yet.
func (w *watched) ask(t *testing.T, expression string) (found []map[string]string) {
	t.Helper()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Metric map[string]string }
		}
	}
	if get(t, "http://"+w.prometheus+"/api/v1/query?query="+url.QueryEscape(expression), &answer) != nil {
		return nil
	}
	if answer.Status != "success" && answer.Error != "" {
		t.Fatalf("%s: %s", expression, answer.Error)
	}
	for _, r := range answer.Data.Result {
		found = append(found, r.Metric)
	}
	return found
}

// do does a request at the server.
func (w *watched) do(t *testing.T, secret, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+w.server+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("ops", secret)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 && secret == right {
		t.Fatal(path, answer.Status, string(text), err)
	}
	return string(text)
}

// expressions are all that the rules and the dashboard ask.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title, Description string
			Type               string
			Targets            []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*", "$queue", ".*")
	for _, p := range d.Panels {
		if p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("the panel %q asks nothing, or does not say what it shows", p.Title)
		}
		for _, target := range p.Targets {
			all = append(all, variables.Replace(target.Expr))
		}
	}
	return all
}

// elsewhere are the metrics that a server alone does not have.
var elsewhere = []string{"hikyaku_cluster_node_alive"}

func TestARealPrometheusAnswersTheDashboardAndTheAlertsComeThere(t *testing.T) {
	w := watch(t)
	w.do(t, "wrong", "GET", "/default/queues", "")
	w.do(t, right, "POST", "/default/queues/out/messages", `{"body":"one"}`)
	w.do(t, right, "POST", "/default/queues/jobs/messages", `{"body":"one"}`)
	var claimed struct{ Messages []struct{ Token string } }
	if err := json.Unmarshal([]byte(w.do(t, right, "POST", "/default/queues/jobs/claim", "")),
		&claimed); err != nil || len(claimed.Messages) != 1 {
		t.Fatal(err, claimed)
	}
	waittest.Until(t, "Prometheus knows the queue without dead letters", func() bool {
		return len(w.ask(t, `hikyaku_queue_events_total{queue="default/jobs",event="claim"} == 1`)) == 1
	})
	w.do(t, right, "POST", "/default/settle", fmt.Sprintf(
		`{"settlements":[{"token":"%s","as":"dead","reason":"tried"}]}`, claimed.Messages[0].Token))
	waittest.Until(t, "the alert about dead letters is there", func() bool {
		return len(w.ask(t, `ALERTS{alertname="HikyakuDeadLetters",alertstate="firing",queue="default/jobs"}`)) == 1
	})
	waittest.Until(t, "the failed login is counted", func() bool {
		return len(w.ask(t, `hikyaku_logins_failed_total{door="http"} > 0`)) == 1
	})
	asked := expressions(t)
	for _, e := range asked {
		w.ask(t, e) // it can be evaluated
	}
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\b(hikyaku|process|go)_[a-z_]+\b`).FindAllString(
		strings.Join(append(asked, string(text)), "\n"), -1)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.Contains(elsewhere, name) && len(w.ask(t, "{__name__=~\""+name+"(_bucket)?\"}")) == 0 {
			t.Errorf("there is no metric %s", name)
		}
	}
	var loaded struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	waittest.Until(t, "each rule was evaluated", func() bool {
		if err := get(t, "http://"+w.prometheus+"/api/v1/rules", &loaded); err != nil || len(loaded.Data.Groups) != 1 {
			t.Fatal(err, loaded)
		}
		return !slices.ContainsFunc(loaded.Data.Groups[0].Rules, func(r struct{ Name, Health, LastError string }) bool {
			return r.Health == "unknown"
		})
	})
	for _, r := range loaded.Data.Groups[0].Rules {
		if r.Health != "ok" {
			t.Errorf("%s: %s: %s", r.Name, r.Health, r.LastError)
		}
	}
	if len(loaded.Data.Groups[0].Rules) != len(alerts(t)) {
		t.Errorf("Prometheus has %d rules", len(loaded.Data.Groups[0].Rules))
	}
}
