package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// keyRow is a row of the reference's tables: a key and what it takes.
var keyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*?) \\| ")

// parts are the tables of the reference in which the keys of a part of a file stand.
var parts = []struct{ heading, prefix string }{
	{"## The file", ""}, {"### `api.http`", "api.http."}, {"### `api.mysql`", "api.mysql."},
	{"### `api.pubsub`", "api.pubsub."}, {"### `api.sqs`", "api.sqs."}, {"### `api.lambda`", "api.lambda."},
	{"## Queues: `queues.NAME`", "queues.q."}, {"## Users: `users`", "users.ann."}, {"## Store: `limits`", "limits."},
	{"## Log: `log`", "log."},
}

// keysOf lists the keys in a part of the reference, with what each takes. Those with keys below them are left out.
func keysOf(t *testing.T, heading, prefix string) (keys [][2]string) {
	t.Helper()
	_, text, ok := strings.Cut(config.Reference(), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("the reference has no %s", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	for _, row := range keyRow.FindAllStringSubmatch(text, -1) {
		if kind := row[2]; kind != "a mapping" && kind != "a list of mappings" && kind != "see below" {
			keys = append(keys, [2]string{prefix + row[1], kind})
		}
	}
	if len(keys) == 0 {
		t.Fatalf("%s has no keys", heading)
	}
	return keys
}

// values are what a key that takes something of that kind may be set to, the likeliest first.
func values(key, kind string) []string {
	if own, ok := map[string][]string{
		"durability": {"os"}, "outbound.allow": {"[loopback]"}, "namespaces": {"{ a: [b] }"},
		"log.level": {"debug"}, "log.format": {"json"},
		"api.lambda.isolation": {"none"}, "api.lambda.network": {"none"}, "queues.q.columns": {"[a int]"},
	}[key]; ok {
		return own
	}
	listed := regexp.MustCompile("^`[^`]+`(, `[^`]+`)*$")
	switch {
	case kind == "`true` or `false`":
		return []string{"true"}
	case listed.MatchString(kind):
		all := strings.Split(strings.Trim(kind, "`"), "`, `")
		slices.Reverse(all) // the default stands at the beginning
		return all
	case kind == "a duration":
		return []string{"2h", "90s", "3s"}
	case kind == "a size in bytes":
		return []string{"8MiB", "1MiB", "64KiB"}
	case strings.Contains(kind, "number"):
		return []string{"7", "70", "0.5"}
	}
	return []string{"x", "127.0.0.1:7", "[x]", "{ x: y }", "{ x: [y] }", "http://x", "/tmp/x", "us-east-2",
		"000000000007", "{ a: int }", "[{ name: a, type: int }]", "\"a = 1\""}
}

// together are configurations of keys that go with others alone.
var together = map[string]string{
	".tls.cert": "{ cert: x, key: y }", ".tls.key": "{ cert: x, key: y }",
	".otlp.headers": "{ endpoint: 'http://127.0.0.1:4318', headers: { a: b } }",
	".s3.region":    s3, ".s3.access_key": s3, ".s3.secret": s3,
	"cluster.node": aCluster, "cluster.listen": aCluster, "cluster.peers": aCluster, "cluster.secret": aCluster,
	"topics.t.subscriptions.q.filter": `{ filter: "a = 1", lease: 1m }`,
}

const aCluster = "{ node: a, listen: '127.0.0.1:1', peers: { a: '127.0.0.1:1' }, secret: " +
	"one-that-is-long-enough-to-be-taken }"

const s3 = "{ endpoint: 'http://127.0.0.1:9000', region: a, access_key: b, secret: c-is-long }"

// setting is a configuration with one key in it, by its dotted name, or with the keys that it goes with.
func setting(key, value string) string {
	for end, of := range together {
		if strings.HasSuffix(key, end) {
			key, value = key[:strings.LastIndexByte(key, '.')], of
		}
	}
	keys := strings.Split(key, ".")
	return strings.Join(keys, ": { ") + ": " + value + strings.Repeat(" }", len(keys)-1) + "\n"
}

// standing is a house that can only read its configuration again.
func standing(t *testing.T, text string) (h *house, reload func(text string) (log string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	f, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	h = &house{file: f, loaded: f, level: new(slog.LevelVar)}
	h.log = newLogger(&log, f.Log, h.level)
	if h.users, err = access.New(f.Users); err != nil {
		t.Fatal(err)
	}
	j, err := file.Open(t.Context(), file.Options{Dir: "log", FS: faultfs.New(), SegmentBytes: 1 << 20,
		Watch: -1, Scrub: scrubOf(f.Journal)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	h.journals = []journal.Journal{j}
	return h, func(text string) string {
		t.Helper()
		write(text)
		log.Reset()
		h.reload(path)
		return log.String()
	}
}

// reloads are the settings that a SIGHUP takes, each with how one sees that it did.
var reloads = map[string]struct {
	from, to string
	seen     func(h *house) error
}{
	"log.level": {"", "log: { level: debug }\n", func(h *house) error {
		if h.level.Level() != slog.LevelDebug {
			return fmt.Errorf("the level is %v", h.level.Level())
		}
		return nil
	}},
	"outbound.allow": {"outbound: { allow: [] }\n", "outbound: { allow: [loopback] }\n", func(h *house) error {
		return h.file.Outbound.CheckHost("127.0.0.1")
	}},
	// The node takes it, whether it has a house or not: TestNodesAreTakenIntoAClusterAndOutOfItByCommands.
	"cluster.peers": {"cluster: " + aCluster + "\n", "cluster: " + strings.Replace(aCluster, "peers: {",
		"peers: { b: '127.0.0.1:2',", 1) + "\n", func(h *house) error {
		if _, named := h.loaded.Cluster.Peers["b"]; !named {
			return errors.New("node b is not named")
		}
		return nil
	}},
	"journal.scrub.every": {"", "journal: { scrub: { every: 1h } }\n", scrubs(file.Scrub{Every: time.Hour})},
	"journal.scrub.bytes_per_second": {"journal: { scrub: { every: 1h } }\n",
		"journal: { scrub: { every: 1h, bytes_per_second: 1MiB } }\n",
		scrubs(file.Scrub{Every: time.Hour, BytesPerSecond: 1 << 20})},
	"users.ann.name": {"users: [{ name: ann, secret: secret-one }]\n", "users: [{ name: eve, secret: secret-one }]\n",
		letsIn("eve", "secret-one")},
	"users.ann.secret":  {annHas("secret: secret-one"), annHas("secret: secret-two"), letsIn("ann", "secret-two")},
	"users.ann.secrets": {annHas("secret: secret-one"), annHas("secrets: [secret-two]"), letsIn("ann", "secret-two")},
	"users.ann.secret_hash": {annHas("secret: secret-one"), annHas("secret_hash: HASH"),
		letsIn("ann", "secret-two")},
	"users.ann.secret_file":  {annHas("secret: secret-one"), annHas("secret_file: FILE"), letsIn("ann", "secret-two")},
	"users.ann.grants[].can": {annMay("take", "news"), annMay("put", "news"), mayPut},
	"users.ann.grants[].on":  {annMay("put", "olds"), annMay("put", "news"), mayPut},
}

// scrubs: the journal looks for damage so; 8 MiB a second unless something else is said.
func scrubs(how file.Scrub) func(h *house) error {
	if how.BytesPerSecond == 0 {
		how.BytesPerSecond = 8 << 20
	}
	return func(h *house) error {
		if got := h.journals[0].(*file.Journal).Scrub(); got != how {
			return fmt.Errorf("it is %+v", got)
		}
		return nil
	}
}

func annHas(secret string) string { return "users: { ann: { " + secret + " } }\n" }

func annMay(can, on string) string {
	return annHas("secret: secret-one, grants: [{ can: [" + can + "], on: [" + on + "] }]")
}

func letsIn(name, secret string) func(h *house) error {
	return func(h *house) error {
		_, err := h.users.Login(context.Background(), access.Attempt{}, name, secret)
		return err
	}
}

func mayPut(h *house) error {
	user, ok := h.users.Named("ann")
	if !ok || !h.users.Allowed(user, access.Put, queue.Name{Namespace: queue.DefaultNamespace, Name: "news"}) {
		return fmt.Errorf("ann may not put into news")
	}
	return nil
}

// TestASIGHUPTakesASettingOrNamesItAsNeedingARestart: every one that the reference has.
func TestASIGHUPTakesASettingOrNamesItAsNeedingARestart(t *testing.T) {
	for _, part := range parts {
		for _, key := range keysOf(t, part.heading, part.prefix) {
			if key[0] == "queues.q.filter" { // a queue has it by its topic alone
				key[0] = "topics.t.subscriptions.q.filter"
			}
			if _, ok := reloads[key[0]]; ok {
				continue
			}
			if now, _ := sortOut(key[:1], reloadable); len(now) > 0 {
				t.Errorf("%s is of what is reloaded, and no test shows that it is taken: add it to reloads", key[0])
				continue
			}
			text := ""
			for _, v := range values(key[0], key[1]) {
				text = setting(key[0], v)
				if _, err := config.Parse("a.yaml", []byte(text), os.LookupEnv); err == nil {
					break
				}
				text = ""
			}
			if text == "" {
				t.Errorf("no value is known for %s, %s: add one to values", key[0], key[1])
				continue
			}
			_, reload := standing(t, "")
			log := reload(text)
			_, later, _ := strings.Cut(log, "needs_restart=")
			named := strings.FieldsFunc(later, func(r rune) bool { return strings.ContainsRune("\"[] \n", r) })
			if !slices.ContainsFunc(named,
				func(n string) bool { return n == key[0] || strings.HasPrefix(n, key[0]+".") }) {
				t.Errorf("%s has changed, and the log says: %s", key[0], log)
			}
		}
	}
}

// TestASIGHUPTakesEachSettingThatItNames takes them one by one.
func TestASIGHUPTakesEachSettingThatItNames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("secret-two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("FILE", file, "HASH", "'"+access.HashSecret("secret-two")+"'")
	for name, c := range reloads {
		h, reload := standing(t, fill.Replace(c.from))
		if c.seen(h) == nil {
			t.Errorf("%s: it is so before", name)
		}
		log := reload(fill.Replace(c.to))
		if err := c.seen(h); err != nil || !strings.Contains(log, "needs_restart=[]") {
			t.Errorf("%s is not taken: %v; the log says: %s", name, err, log)
		}
	}
}

func TestTheLogOfASIGHUPIsShort(t *testing.T) {
	var queues strings.Builder
	queues.WriteString("queues:\n")
	for n := range 1000 {
		fmt.Fprintf(&queues, "  q%03d: {}\n", n)
	}
	_, reload := standing(t, "")
	if log := reload(queues.String()); !strings.Contains(log, " queues.q019 and 980 more]") {
		t.Errorf("the log says: %s", log)
	}
}
