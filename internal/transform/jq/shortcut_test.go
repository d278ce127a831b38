package jq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/program/programtest"
)

// result is all that a transform tells of a message.
func result(ctx context.Context, t *testing.T, tr component.Transform, m *message.Message) (text string, err error) {
	t.Helper()
	var b strings.Builder
	err = tr.Transform(ctx, m, func(port string, o *message.Message) {
		fmt.Fprintf(&b, "%s%v %q %v %v %v %v %s\n", port, o.ID, o.Key, o.Time, o.Expires, o.Death, o.Row, o.Body)
		for _, a := range o.Attributes {
			fmt.Fprintf(&b, "  %q=%#v\n", a.Name, a.Value)
		}
	})
	return b.String(), err
}

// same transforms with and without the short cut. It tells whether the short cut made messages.
func same(t *testing.T, c Config, g *programtest.Generator) (short bool) {
	made, err := New(c, component.Env{})
	if err != nil {
		return false
	}
	with := made.(*transform)
	if with.short == nil {
		return false
	}
	without := &transform{config: with.config}
	without.compiled.Store(with.compiled.Load())
	for range 2 {
		m := g.Message()
		m.Row = []message.Value{message.Int(1)}
		if out, ok := with.short.transform(m); ok && len(out) > 0 {
			short = true
		}
		got, err := result(t.Context(), t, with, m)
		want, wrong := result(t.Context(), t, without, m)
		if wrong != nil && err != nil && err.Error() == wrong.Error() {
			wrong, err = nil, nil
		}
		if got != want || err != nil || wrong != nil {
			t.Fatalf("%+v\nof %q\nis   %s, %v\nwant %s, %v", c, m.Body, got, err, want, wrong)
		}
	}
	return short
}

func TestAShortCutMakesTheSameMessages(t *testing.T) {
	met := 0
	for seed := range uint64(5000) {
		g := programtest.New(seed)
		c := Config{Program: g.Program(), Raw: seed%5 == 0, MaxOutputs: int(seed % 4)}
		switch seed % 3 {
		case 0:
			c.Attributes = g.Program()
		case 1:
			c.Attributes = map[string]any{"user": g.Program(), "to": g.Program()}
		}
		if same(t, c, g) {
			met++
		}
	}
	if met < 200 {
		t.Errorf("only %d short cuts made messages", met)
	}
}

func TestUsualProgramsTakeTheShortCut(t *testing.T) {
	for _, c := range []Config{
		{Program: `.users[]`, Attributes: `{token, collapse_id: "user-\(.id)"}`},
		{Program: `{news, title: .pick.title, text: .pick.text}`},
		{Program: `{level: (.value1|tonumber), at: $time}`, Attributes: map[string]any{"level": ".level"}},
		{Program: `.readings[] | {level: (.value|tonumber), sensor: $key}`,
			Attributes: map[string]string{"sensor": "$key"}},
		{Program: `select(.kind == "news") | .items[] | {id, kind: $attributes.kind, all: $body.title}`},
	} {
		made, err := New(c, component.Env{})
		if err != nil || made.(*transform).short == nil {
			t.Errorf("%+v takes the long way: %v", c, err)
		}
	}
}

func TestAStoppedShortCutIsTriedAgain(t *testing.T) {
	made, err := New(Config{Program: ".[]"}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{0, 1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		if after == 0 {
			cancel()
		}
		err = made.Transform(ctx, &message.Message{Body: []byte("[1,2,3]")}, func(string, *message.Message) {
			if n++; n == after {
				cancel()
			}
		})
		if _, again := component.AsRetry(err); !again || !errors.Is(err, context.Canceled) || n != after {
			t.Errorf("stopped after %d: %d messages and %v", after, n, err)
		}
		cancel()
	}
}

// What the short cut takes lies within the limits that bodies and outputs have, so that beyond them the error is the
// same.
func TestTheShortCutKnowsTheVariablesOfPrograms(t *testing.T) {
	if len(shortVariables) != len(variableNames) {
		t.Fatal("there are others")
	}
	for i, v := range shortVariables {
		if v.Name != variableNames[i] {
			t.Errorf("%s is none of the variables", v.Name)
		}
	}
	many := []byte("{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, codec.MaxFields+1), ",") + "}")
	deep := []byte(strings.Repeat("[", codec.MaxDepth+1) + strings.Repeat("]", codec.MaxDepth+1))
	for _, body := range [][]byte{many, deep} {
		made, err := New(Config{Program: "."}, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := result(t.Context(), t, made, &message.Message{Body: body}); err == nil {
			t.Errorf("%.20s… has no error", body)
		}
	}
}
