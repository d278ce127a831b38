package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAPictureHasEveryWayOfAConfiguration(t *testing.T) {
	f := parse(t, "x.yaml", `
topics: { orders: { subscriptions: { all: {}, tokyo: { filter: "city = 'Tokyo'", max_attempts: 3 } } } }
queues: { shop/in: { dead_letter: bad }, 飛脚: {} }
sources:
  cold: { type: queue, from: [{ queue: tokyo, where: "temperature < 5" }, { queue: test/in2 }] }
  one: { type: queue, queue: 飛脚 }
  lines: { type: stdin, decoding: { codec: json } }
  logs: { type: syslog, mode: udp }
transforms: { split: { type: route, inputs: [cold, lines, logs, one], routes: { a: "x = 1" } } }
sinks:
  back: { type: queue, queue: all, inputs: [split.a] }
  out: { type: stdout, inputs: [split._unmatched], dead_letter: bad }
namespaces: { default: [test] }
`)
	p := f.Picture("http, sqs")
	var ways []string
	name := func(i int) string { return p.Things[i].Kind + ":" + p.Things[i].Name }
	for _, w := range p.Ways {
		arrow := " -> "
		if w.Dead {
			arrow = " -.-> "
		}
		ways = append(ways, strings.TrimSpace(name(w.From)+arrow+name(w.To)+" "+w.Label))
	}
	want := strings.Split(`topic:orders -> queue:all
topic:orders -> queue:tokyo city = 'Tokyo'
queue:tokyo -.-> queue:tokyo_dead
queue:shop/in -.-> queue:shop/bad
queue:tokyo -> source:cold temperature < 5
queue:in2 -> source:cold
source:lines -.-> queue:lines_dead
source:cold -> transform:split
source:lines -> transform:split
source:logs -> transform:split
source:one -> transform:split
queue:飛脚 -> source:one
transform:split -.-> queue:split_dead
transform:split -> sink:back a
sink:back -> queue:all
sink:back -.-> queue:back_dead
transform:split -> sink:out _unmatched
sink:out -.-> queue:bad
door:clients that put -> topic:orders
door:clients that put -> queue:in2
door:clients that put -> queue:shop/in
door:clients that put -> queue:飛脚
queue:all -> door:clients that take`, "\n")
	slices.Sort(ways)
	slices.Sort(want)
	if !slices.Equal(ways, want) {
		t.Errorf("there are\n%s\nwanted\n%s", strings.Join(ways, "\n"), strings.Join(want, "\n"))
	}
	notes := fmt.Sprint(p.Things)
	if !strings.Contains(notes, "{source logs syslog 127.0.0.1:5514}") || !strings.Contains(notes, "{door clients "+
		"that put http, sqs}") {
		t.Error(notes)
	}
}
