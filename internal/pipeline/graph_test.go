package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func source(name string) Node { return Node{Name: name, Source: feedOf()} }
func sink(name string, inputs ...string) Node {
	return Node{Name: name, Inputs: inputs, Sink: &answer{}}
}
func step(name string, inputs ...string) Node {
	return Node{Name: name, Inputs: inputs, Transform: same}
}
func fork(name string, ports []string, inputs ...string) Node {
	return Node{Name: name, Inputs: inputs, Transform: split{same, ports}}
}

func TestAWrongGraphIsRefusedWithAHint(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []Node
		want  []string
	}{
		"unknown input": {
			[]Node{source("lines"), step("shape", "lines"), sink("out", "shap")},
			[]string{`out: input "shap": there is no source or transform of this name (did you mean "shape"?)`},
		},
		"unknown input, nothing near": {
			[]Node{source("lines"), step("shape", "lines"), sink("out", "shape", "elsewhere")},
			[]string{`out: input "elsewhere": there is no source or transform of this name`},
		},
		"unknown port": {
			[]Node{source("lines"), fork("fork", []string{"ja", "en"}, "lines"),
				sink("out", "fork.en", "fork.fr", "fork.ja")},
			[]string{`out: input "fork.fr": transform fork has no output "fr" (it has fork.en, fork.ja)`},
		},
		"a fork without a port": {
			[]Node{source("lines"), fork("fork", []string{"ja", "en"}, "lines"), sink("out", "fork")},
			[]string{`out: input "fork": transform fork has no output "" (it has fork.en, fork.ja)`},
		},
		"a port of a source": {
			[]Node{source("lines"), sink("out", "lines.ja")},
			[]string{`out: input "lines.ja": source lines has no output "ja" (it has lines)`},
		},
		"a sink as input": {
			[]Node{source("lines"), sink("out", "lines"), sink("more", "out")},
			[]string{`more: input "out": is a sink, and sinks have no output`},
		},
		"circle": {
			[]Node{source("lines"), step("a", "lines", "c"), step("b", "a"), step("c", "b"), sink("out", "c")},
			[]string{`a: messages would go round in a circle: a → b → c → a (let it go through a queue, or remove one of these inputs)`},
		},
		"itself": {
			[]Node{source("lines"), step("a", "lines", "a"), sink("out", "a")},
			[]string{`a: input "a": takes from itself`},
		},
		"no inputs": {
			[]Node{source("lines"), sink("out", "lines"), sink("idle")},
			[]string{`idle: this sink has no inputs (name the sources or transforms it takes from)`},
		},
		"unused": {
			[]Node{source("lines"), step("shape", "lines"), sink("out", "lines")},
			[]string{`shape: nobody takes what this transform makes (name it in the inputs of a transform or sink, or remove it)`},
		},
		"two of a name": {
			[]Node{source("a"), sink("a", "a")},
			[]string{`a: there are two components of this name (names are shared by sources, transforms and sinks: rename one of them)`},
		},
		"input named twice": {
			[]Node{source("lines"), sink("out", "lines", "lines")},
			[]string{`out: input "lines": is named twice, so that every message would arrive twice (name it once)`},
		},
		"source with inputs": {
			[]Node{source("a"), {Name: "b", Source: feedOf(), Inputs: []string{"a"}}, sink("out", "a", "b")},
			[]string{`b: input "a": a source has no inputs`},
		},
		"nothing, and two things": {
			[]Node{source("in"), {Name: "none", Inputs: []string{"in"}},
				{Name: "both", Inputs: []string{"in"}, Transform: same, Sink: &answer{}}},
			[]string{"none: a component is one of source, transform and sink, this is 0 of them",
				"both: a component is one of source, transform and sink, this is 2 of them"},
		},
		"no name": {
			[]Node{source("in"), sink("", "in")},
			[]string{": component 2 has no name"},
		},
		"bad dead-letter queue": {
			[]Node{source("in"), {Name: "out", Inputs: []string{"in"}, Sink: &answer{},
				Settings: Settings{DeadLetter: "a b"}}},
			[]string{`out: its dead-letter queue: not a name: "default/a b": ' ' is not allowed (letters, digits and - _ . ~ + % $ are) (set dead_letter)`},
		},
		"several at once": {
			[]Node{source("lines"), sink("a", "line"), sink("b", "liens")},
			[]string{`a: input "line": there is no source or transform of this name (did you mean "lines"?)`,
				`b: input "liens": there is no source or transform of this name (did you mean "lines"?)`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.nodes, Options{})
			var all GraphErrors
			if !errors.As(err, &all) {
				t.Fatalf("error %v", err)
			}
			equal(t, "errors", strings.Split(err.Error(), "\n"), c.want)
			var one *GraphError
			if !errors.As(err, &one) || one != all[0] {
				t.Errorf("errors.As finds %v", one)
			}
		})
	}
}

func TestARightGraphIsTaken(t *testing.T) {
	for name, nodes := range map[string][]Node{
		"empty":          {},
		"dots in a name": {source("a.b"), source("a"), sink("out", "a.b", "a")},
		"diamond":        {source("a"), step("b", "a"), step("c", "a"), sink("d", "b", "c")},
		"both ports":     {source("a"), fork("f", []string{"", "missing"}, "a"), sink("d", "f", "f.missing")},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustNew(t, &keeper{}, Options{}, nodes...)
			if w := p.Warnings(); len(w) > 0 {
				t.Errorf("warnings %v", w)
			}
			mustRun(t, p)
		})
	}
}

func TestMessagesForAnOutputThatNobodyTakesAreCounted(t *testing.T) {
	byLanguage := split{change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		emit(string(m.Body[:2]), m)
		return nil
	}), []string{"en", "fr", "ja"}}
	src, ja, all := feedOf("ja1", "en1", "ja2", "fr1"), &answer{}, &answer{}
	p := mustNew(t, &keeper{}, Options{},
		Node{Name: "in", Source: src},
		Node{Name: "by", Inputs: []string{"in"}, Transform: byLanguage},
		Node{Name: "ja", Inputs: []string{"by.ja"}, Sink: ja},
		Node{Name: "all", Inputs: []string{"by.ja", "by.en"}, Sink: all},
	)
	if w := fmt.Sprint(
		p.Warnings()); w != `[by: nobody takes its output "fr": what it sends there is counted and dropped (name by.fr in somebody's inputs)]` {
		t.Errorf("warnings %s", w)
	}
	r := mustRun(t, p)
	equal(t, "ja", slices.Sorted(slices.Values(ja.got())), []string{"ja1", "ja2"})
	equal(t, "all", slices.Sorted(slices.Values(all.got())), []string{"en1", "ja1", "ja2"})
	if n := r.Nodes[1]; n.Out != 4 || n.Unused != 1 {
		t.Errorf("%+v", n)
	}
}

func TestAReplayedMessageGoesOnlyToItsStepAndWhatLeadsThereAndFollows(t *testing.T) {
	run := func(only string) (reached []string, keeper *keeper, r Result) {
		keeper = newKeeper()
		src, other := feedOf("m"), feedOf()
		src.deliveries[0].Message.Only = only
		sinks := map[string]*answer{}
		nodes := []Node{{Name: "in", Source: src}, {Name: "other", Source: other}, step("a", "in"), step("b", "a"),
			step("c", "a")}
		for name, inputs := range map[string][]string{"direct": {"in"}, "ofA": {"a"}, "ofB": {"b"}, "ofC": {"c"},
			"ofBC": {"b", "c"}, "ofOther": {"other"}} {
			sinks[name] = &answer{}
			nodes = append(nodes, Node{Name: name, Inputs: inputs, Sink: sinks[name]})
		}
		r = mustRun(t, mustNew(t, keeper, Options{}, nodes...))
		for name, s := range sinks {
			for range s.got() {
				reached = append(reached, name)
			}
			for _, m := range s.messages {
				if m.Only != "" {
					t.Errorf("%s got a message that is still only for %q", name, m.Only)
				}
			}
		}
		slices.Sort(reached)
		src.once(t, 1)
		return reached, keeper, r
	}
	for only, want := range map[string][]string{
		"":        {"direct", "ofA", "ofB", "ofBC", "ofBC", "ofC"},
		"a":       {"ofA", "ofB", "ofBC", "ofBC", "ofC"},
		"b":       {"ofB", "ofBC"},
		"ofB":     {"ofB"},
		"ofBC":    {"ofBC", "ofBC"},
		"direct":  {"direct"},
		"renamed": {"direct", "ofA", "ofB", "ofBC", "ofBC", "ofC"},
		"in":      {"direct", "ofA", "ofB", "ofBC", "ofBC", "ofC"},
	} {
		reached, keeper, r := run(only)
		equal(t, "only "+only, reached, want)
		if len(keeper.queues) > 0 || r.Delivered != 1 {
			t.Errorf("only %s: dead letters %v, %+v", only, keeper.queues, r)
		}
		skipped := uint64(0)
		for _, n := range r.Nodes {
			skipped += n.Skipped
		}
		if (skipped > 0) != (only != "" && only != "renamed" && only != "in") {
			t.Errorf("only %s: %d skipped", only, skipped)
		}
	}
	reached, keeper, r := run("ofOther")
	if len(reached) > 0 || r.DeadLettered != 1 || len(keeper.queues["ofOther_dead"]) != 1 {
		t.Errorf("a step that the source does not lead to: reached %v, %+v, dead letters %v", reached, r, keeper.queues)
	}
}

func newKeeper() *keeper { return &keeper{} }

func TestANodeErrorSaysWhatItWasDoingUnlessItJustRan(t *testing.T) {
	for doing, want := range map[string]string{"start": "lines: start: gone", "close": "lines: close: gone",
		"run": "lines: gone"} {
		if got := (&NodeError{"lines", doing, errors.New("gone")}).Error(); got != want {
			t.Errorf("%s: %s", doing, got)
		}
	}
}
