package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

func TestEachActIsInTheAuditWithWhoDidIt(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet+`
audit: { queue: audit }
users:
  - { name: ops, secret: ops-secret-of-ops, grants: [{ can: [put, take, admin, push], on: ["*"] }] }
`)
	do := func(args ...string) result {
		return hikyaku(t, "", []string{"HIKYAKU_URL=" + s.url, "HIKYAKU_SECRET=ops-secret-of-ops"}, args...)
	}
	for _, args := range []string{"queue create jobs --max-attempts 3", "queue put jobs", "queue put jobs",
		"queue alter jobs --lease 1m", "queue move jobs jobs2 --max 1", "snapshot create before --queue jobs",
		"queue purge --yes jobs", "queue seek jobs --snapshot before", "snapshot delete before", "topic create ev",
		"topic subscribe ev all", "topic rm --yes ev", "queue rm --yes jobs", "reload --dry-run", "reload"} {
		if r := do(strings.Fields(args)...); r.code != exitOK {
			t.Fatalf("%s: %+v", args, r)
		}
	}
	want := []string{"createQueue default/jobs", "alterQueue default/jobs", "move default/jobs",
		"createSnapshot default/before", "purge default/jobs", "seek default/jobs", "deleteSnapshot default/before",
		"createTopic default/ev", "createQueue default/all", "deleteTopic default/ev", "deleteQueue default/jobs",
		"reload"}
	r := do("audit", "--json")
	var got []string
	for d := json.NewDecoder(strings.NewReader(r.stdout)); d.More(); {
		var a audited
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(a.Operation+" "+a.Object))
		if a.User != "ops" || !strings.HasPrefix(a.Address, "127.0.0.1:") || a.Door != "http" || a.Time.IsZero() {
			t.Errorf("%+v", a)
		}
		if n, counted := map[string]int{"purge": 1, "move": 1, "seek": 1}[a.Operation]; counted &&
			a.Did["purged"]+a.Did["moved"]+a.Did["back"] != n {
			t.Errorf("%s did %v", a.Operation, a.Did)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit has\n%q, not\n%q", got, want)
	}
	if strings.Contains(r.stdout, "secret") {
		t.Errorf("a secret is in it: %s", r.stdout)
	}
	if r := do("audit", "--last", "2"); !strings.Contains(r.stdout, "deleteQueue  default/jobs") ||
		strings.Contains(r.stdout, "deleteTopic") {
		t.Errorf("the last two:\n%s%s", r.stdout, r.stderr)
	}
	for _, args := range []string{"queue purge --yes audit", "queue rm --yes audit", "queue move audit jobs2",
		"queue alter audit --retention 1s", "queue seek audit --ago 0s --yes"} {
		if r := do(strings.Fields(args)...); r.code != exitFailed ||
			!strings.Contains(r.stderr, "is the queue of the audit") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestAnActIsDoneThoughTheAuditTakesNoMore(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet+"queues: { audit: { max_messages: 1 } }\naudit: { queue: audit }\n")
	for _, name := range []string{"one", "two"} {
		s.wants(t, "", "created queue "+name+"\n", "queue", "create", name)
	}
	if got := s.metric(t, "hikyaku_audit_lost_total"); got != "1" {
		t.Errorf("%q were lost", got)
	}
}

func TestActsOfOtherDoorsAreInTheAudit(t *testing.T) {
	free, err := freeport.Find(2)
	if err != nil {
		t.Fatal(err)
	}
	s := serveHere(t, t.TempDir(), "data_dir: ${HIKYAKU_DATA}\naudit: { queue: audit }\napi:\n  http: { listen: "+
		"127.0.0.1:0 }\n  sqs: { listen: \""+free[0]+"\" }\n  mysql: { listen: \""+free[1]+"\" }\n")
	sqs := func(call, body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+free[0]+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "AmazonSQS."+call)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	of := func(name string) string { return `{"QueueUrl": "http://` + free[0] + `/000000000000/` + name + `"}` }
	for _, call := range [][2]string{{"CreateQueue", `{"QueueName": "jobs"}`}, {"PurgeQueue", of("jobs")},
		{"DeleteQueue", of("jobs")}} {
		if status := sqs(call[0], call[1]); status != 200 {
			t.Fatalf("%s: %d", call[0], status)
		}
	}
	db, err := sql.Open("mysql", "root@tcp("+free[1]+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"CREATE TABLE rows_of (n int) ENGINE=QUEUE", "TRUNCATE TABLE rows_of",
		"DROP TABLE rows_of"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "TRUNCATE TABLE audit"); err == nil {
		t.Error("MySQL truncated the audit's queue")
	}
	r := s.do(t, "", "audit")
	for _, line := range []string{"sqs    createQueue  default/jobs", "sqs    purge        default/jobs",
		"sqs    deleteQueue  default/jobs", "mysql  createQueue  default/rows_of",
		"mysql  purge        default/rows_of", "mysql  deleteQueue  default/rows_of"} {
		if !strings.Contains(r.stdout, line) {
			t.Errorf("no %q in\n%s%s", line, r.stdout, r.stderr)
		}
	}
	for _, call := range []string{"PurgeQueue", "DeleteQueue"} {
		if status := sqs(call, of("audit")); status == 200 {
			t.Errorf("%s of the audit's queue was done", call)
		}
	}
	if r := s.do(t, "", "audit", "--json"); strings.Count(r.stdout, "\n") != 6 {
		t.Errorf("the audit has\n%s%s", r.stdout, r.stderr)
	}
}
