package jq_test

import (
	"context"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/jq"
)

func Example() {
	shape, err := jq.New(jq.Config{
		Program:    `.readings[] | {level: (.value|tonumber), sensor: $key}`,
		Attributes: map[string]any{"high": ".level > 10"},
	}, component.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &message.Message{Key: "roof", Body: []byte(`{"readings": [{"value": "3"}, {"value": "12"}]}`)}
	err = shape.Transform(context.Background(), m, func(_ string, out *message.Message) {
		high, _ := out.Attributes.Get("high")
		fmt.Printf("%s high=%s\n", out.Body, high.Text())
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"level":3,"sensor":"roof"} high=false
	// {"level":12,"sensor":"roof"} high=true
}
