package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/source/stdin"
	"github.com/hikyaku/hikyaku/internal/transform/decode"
)

// BenchmarkLines is the price of a line of ten numbers from the standard input, through a decoder, to a sink that costs
// nothing: what a row pays before its database.
func BenchmarkLines(b *testing.B) {
	const fields = 10
	columns := make([]string, fields)
	for i := range columns {
		columns[i] = fmt.Sprintf("value%d", i+1)
	}
	source, err := stdin.New(stdin.Config{},
		component.Env{Stdin: &manyLines{left: b.N, text: strings.Repeat("7.25,", fields-1) + "-1204.5\n"}})
	if err != nil {
		b.Fatal(err)
	}
	decoder, err := decode.New(decode.Config{Codec: "csv", Columns: columns}, component.Env{})
	if err != nil {
		b.Fatal(err)
	}
	var sink counting
	p, err := pipeline.New([]pipeline.Node{
		{Name: "lines", Source: source},
		{Name: "fields", Inputs: []string{"lines"}, Transform: decoder},
		{Name: "table", Inputs: []string{"fields"}, Sink: &sink,
			Settings: pipeline.Settings{Request: pipeline.Request{Concurrency: 1}}},
	}, pipeline.Options{Store: noLetters{}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	if _, err := p.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	if sink.messages != b.N {
		b.Fatalf("%d of %d lines came through", sink.messages, b.N)
	}
}

// manyLines is a text repeated.
type manyLines struct {
	left int
	text string
}

func (m *manyLines) Read(b []byte) (n int, err error) {
	for m.left > 0 && len(b)-n >= len(m.text) {
		n += copy(b[n:], m.text)
		m.left--
	}
	if n == 0 && m.left == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// counting delivers everything.
type counting struct{ messages int }

func (c *counting) Send(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
	c.messages += len(batch)
	return make([]component.Outcome, len(batch)), nil
}
func (*counting) Close() error { return nil }

// noLetters is for pipelines that give nothing up.
type noLetters struct{}

func (noLetters) Put(context.Context, queue.Name, []message.Message) ([]queue.PutResult, error) {
	return nil, errors.New("no dead letter was expected")
}
