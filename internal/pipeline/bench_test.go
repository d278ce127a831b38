package pipeline

import (
	"context"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkPassing is the price of a message's way through the pipeline when the components cost nothing.
func BenchmarkPassing(b *testing.B) {
	for name, steps := range map[string]int{"source-sink": 0, "source-transform-sink": 1,
		"source-3-transforms-sink": 3} {
		b.Run(name, func(b *testing.B) {
			m := text("0123456789012345678901234567890123456789")
			settle := func(component.Outcome) {}
			src := sends(func(ctx context.Context, out component.Out) error {
				for range b.N {
					if err := out.Send(ctx, component.Delivery{Message: m, Settle: settle}); err != nil {
						return err
					}
				}
				return nil
			})
			nodes := []Node{{Name: "in", Source: src}}
			last := "in"
			for range steps {
				next := last + "t"
				nodes = append(nodes, Node{Name: next, Inputs: []string{last}, Transform: same})
				last = next
			}
			nodes = append(nodes, Node{Name: "out", Inputs: []string{last}, Sink: quick{},
				Settings: Settings{Request: Request{Concurrency: 1}}})
			p, err := New(nodes, Options{Store: &keeper{}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			if _, err := p.Run(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// quick delivers everything.
type quick struct{}

func (quick) Send(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return make([]component.Outcome, len(batch)), nil
}
func (quick) Close() error { return nil }
