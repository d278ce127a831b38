package config

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const sameYAML = `
data_dir: ./data
durability: os
log: { level: debug }
namespaces: { default: [test, "000000000000"] }
limits: { messages: 1_000, bytes: 10MiB }
users:
  - { name: reader, secret: "${SECRET}", grants: [{ can: [take], on: "news*" }] }
queues:
  news: { max_attempts: 5, lease: 1m30s, labels: { team: mail } }
  rows: { columns: ["id varchar(255) not null", "n int unsigned"], ordering: none, retention: 4d, history: 7d, exactly_once: true }
topics:
  sport: { subscriptions: { japan: { filter: "lang = 'ja'" } } }
sources:
  lines: { type: stdin, max_line_bytes: 64k, decoding: { codec: csv, columns: [at, level] } }
transforms:
  some: { type: filter, inputs: [lines], where: "level = 'a'" }
  ways: { type: route, inputs: some, routes: { zebra: "a = 1", apple: "a = 2" } }
`

const sameTOML = `
data_dir = "./data"
durability = "os"
log.level = "debug"
namespaces.default = ["test", "000000000000"]

[limits]
messages = 1_000
bytes = "10MiB"

[[users]]
name = "reader"
secret = "${SECRET}"
grants = [{ can = ["take"], on = "news*" }]

[queues.news]
max_attempts = 5
lease = "1m30s"
labels.team = "mail"

[queues.rows]
columns = ["id varchar(255) not null", "n int unsigned"]
ordering = "none"
retention = "4d"
history = "7d"
exactly_once = true

[topics.sport.subscriptions.japan]
filter = "lang = 'ja'"

[sources.lines]
type = "stdin"
max_line_bytes = "64k"
[sources.lines.decoding]
codec = "csv"
columns = ["at", "level"]

[transforms.some]
type = "filter"
inputs = ["lines"]
where = "level = 'a'"

[transforms.ways]
type = "route"
inputs = "some"
[transforms.ways.routes]
zebra = "a = 1"
apple = "a = 2"
`

const sameJSON = `{
  "data_dir": "./data",
  "durability": "os",
  "log": {"level": "debug"},
  "namespaces": {"default": ["test", "000000000000"]},
  "limits": {"messages": 1000, "bytes": "10MiB"},
  "users": [{"name": "reader", "secret": "${SECRET}", "grants": [{"can": ["take"], "on": "news*"}]}],
  "queues": {
    "news": {"max_attempts": 5, "lease": "1m30s", "labels": {"team": "mail"}},
    "rows": {"columns": ["id varchar(255) not null", "n int unsigned"], "ordering": "none", "retention": "4d", "history": "7d", "exactly_once": true}
  },
  "topics": {"sport": {"subscriptions": {"japan": {"filter": "lang = 'ja'"}}}},
  "sources": {"lines": {"type": "stdin", "max_line_bytes": "64k", "decoding": {"codec": "csv", "columns": ["at", "level"]}}},
  "transforms": {
    "some": {"type": "filter", "inputs": ["lines"], "where": "level = 'a'"},
    "ways": {"type": "route", "inputs": "some", "routes": {"zebra": "a = 1", "apple": "a = 2"}}
  }
}`

func TestTheSameConfigurationMeansTheSameInEveryFormat(t *testing.T) {
	files := []*File{
		parse(t, "same.yaml", sameYAML, "SECRET=hunter22"),
		parse(t, "same.toml", sameTOML, "SECRET=hunter22"),
		parse(t, "same.json", sameJSON, "SECRET=hunter22"),
	}
	if got := files[0].Users[0].Secret.Reveal(); got != "hunter22" {
		t.Errorf("the secret is %q", got)
	}
	if got := files[0].Limits.Bytes; got != 10<<20 {
		t.Errorf("10MiB is %d", got)
	}
	if rows := essence(files[0]).Queues["default/rows"]; rows.History != 7*24*time.Hour || !rows.ExactlyOnce {
		t.Errorf("a history of 7d is %v, exactly once %v", rows.History, rows.ExactlyOnce)
	}
	for _, f := range files[1:] {
		if d := cmp.Diff(essence(files[0]), essence(f), cmpopts.EquateEmpty(), exportAll()); d != "" {
			t.Errorf("%s differs from the YAML:\n%s", f.Name, d)
		}
	}
}

type essential struct {
	DataDir, Durability string
	Namespaces          map[string][]string
	Limits              Limits
	Log                 Log
	Users               []access.User
	Queues              map[string]queue.Definition
	Topics              []queue.Name
	Parts               []essentialPart
}

type essentialPart struct {
	Name     string
	Common   common
	Config   any
	Decoding any
}

// essence is a file without its places.
func essence(f *File) essential {
	e := essential{f.DataDir, f.Durability, f.Namespaces, f.Limits, f.Log, f.Users, map[string]queue.Definition{}, nil,
		nil}
	for _, q := range f.Queues {
		e.Queues[q.Name.String()] = q.Definition
	}
	for _, t := range f.Topics {
		e.Topics = append(e.Topics, t.Name)
	}
	for _, p := range f.parts {
		e.Parts = append(e.Parts, essentialPart{p.name, p.common, p.config, p.decoding})
	}
	return e
}

func exportAll() cmp.Option { return cmp.Exporter(func(reflect.Type) bool { return true }) }

func TestRoutesKeepTheOrderOfTheFile(t *testing.T) {
	for name, text := range map[string]string{"same.yaml": sameYAML, "same.toml": sameTOML, "same.json": sameJSON} {
		f := parse(t, name, text, "SECRET=hunter22")
		i := slices.IndexFunc(f.parts, func(p *part) bool { return p.name == "ways" })
		got := reflect.ValueOf(f.parts[i].config).Elem().FieldByName("Routes").Index(0).FieldByName("Name").String()
		if got != "zebra" {
			t.Errorf("%s: the first route is %s", name, got)
		}
	}
}

func TestAnEmptyFileIsAllDefaults(t *testing.T) {
	for _, name := range []string{"a.yaml", "a.yml", "a.toml"} {
		f := parse(t, name, "")
		if f.DataDir != "./hikyaku-data" || f.Durability != "fsync" || f.Log != (Log{"info", "text"}) {
			t.Errorf("%s: %+v", name, f)
		}
		if got := f.resolve(queue.Name{Namespace: "000000000000", Name: "news"}); got.Short() != "news" {
			t.Errorf("%s: SQS's account is %v", name, got)
		}
	}
	parse(t, "a.json", "{}")
	parse(t, "a.yaml", "\ufeffqueues:\n  news:\n")
	parse(t, "a.yaml", "queues:\r\n  news:\r\n    lease: 30s\r\n")
}
