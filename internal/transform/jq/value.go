package jq

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

// variableNames are what a program knows of the message but for its body, in the order of variableValues.
var variableNames = []string{"$id", "$key", "$attributes", "$time", "$expires", "$death", "$body"}

func variableValues(m *message.Message, body any) []any {
	attributes := make(map[string]any, len(m.Attributes))
	for _, a := range m.Attributes {
		attributes[a.Name] = toJQ(a.Value)
	}
	var id, key, death any
	if !m.ID.IsZero() {
		id = m.ID.String()
	}
	if m.Key != "" {
		key = m.Key
	}
	if d := m.Death; d != nil {
		death = map[string]any{"queue": d.Queue, "step": d.Step, "reason": d.Reason, "attempts": d.Attempts,
			"time": timeToJQ(d.Time)}
	}
	return []any{id, key, attributes, timeToJQ(m.Time), timeToJQ(m.Expires), death, body}
}

func timeToJQ(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(message.TimeFormat)
}

// toJQ makes one of jq's values of an attribute's. Every number keeps its digits.
func toJQ(v message.Value) any {
	switch v.Kind() {
	case message.KindNull:
		return nil
	case message.KindBool:
		return v.AsBool()
	case message.KindInt:
		if i := v.AsInt(); int64(int(i)) == i {
			return int(i)
		}
		return json.Number(v.Text())
	case message.KindUint:
		return json.Number(v.Text())
	case message.KindFloat:
		return v.AsFloat()
	case message.KindDecimal:
		if json.Valid([]byte(v.AsString())) {
			return json.Number(v.AsString())
		}
		return v.AsString()
	default:
		return v.Text()
	}
}

// fromJQ makes an attribute's value of one of jq's.
func fromJQ(v any) (message.Value, error) {
	switch v := v.(type) {
	case nil:
		return message.Null(), nil
	case bool:
		return message.Bool(v), nil
	case string:
		return message.String(strings.ToValidUTF8(v, "\ufffd")), nil
	case int:
		return message.Int(int64(v)), nil
	case json.Number:
		return codec.Number(v.String())
	case *big.Int:
		return codec.Number(v.String())
	case float64:
		return floatFromJQ(v)
	default:
		return message.Value{}, fmt.Errorf("an attribute holds a string, a number, true, false or null, not %s",
			gojq.Preview(v))
	}
}

// floatFromJQ makes integers of the floats that are: jq does not tell 3 and 3.0 apart.
func floatFromJQ(f float64) (message.Value, error) {
	const exact = 1 << 53
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return message.Value{}, errors.New("an attribute cannot be " + strconv.FormatFloat(f, 'g', -1, 64))
	case f == math.Trunc(f) && math.Abs(f) <= exact:
		return message.Int(int64(f)), nil
	default:
		return message.Float(f), nil
	}
}

// marshal writes compact JSON. Programs can nest values deeper than anything could read again, or than a stack holds.
func marshal(v any) ([]byte, error) {
	if deeper(v, codec.MaxDepth) {
		return nil, fmt.Errorf("the value is nested deeper than %d levels", codec.MaxDepth)
	}
	return gojq.Marshal(v)
}

// deeper tells whether v has more than depth levels of objects and arrays. It looks no deeper than that.
func deeper(v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if depth > 0 && deeper(x, depth-1) {
				return true
			}
		}
		return depth <= 0
	case map[string]any:
		for _, x := range v {
			if depth > 0 && deeper(x, depth-1) {
				return true
			}
		}
		return depth <= 0
	default:
		return false
	}
}
