package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Row is one result of a bench: named values in the order in which they were first set. A Row is not for several
// goroutines at once.
type Row struct {
	names  []string
	values map[string]any
}

// Set gives a value its name, or changes it in its place, and returns the row. Values are what encoding/json takes; a
// number that JSON cannot express (NaN, an infinity) becomes null.
func (r *Row) Set(name string, value any) *Row {
	if r.values == nil {
		r.values = make(map[string]any)
	}
	if _, known := r.values[name]; !known {
		r.names = append(r.names, name)
	}
	if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		value = nil
	}
	r.values[name] = value
	return r
}

// Times sets n, mean_ms, p50_ms, p99_ms, max_ms and min_ms from what h counted.
func (r *Row) Times(h *Histogram) *Row {
	s := h.Summary()
	return r.Set("n", s.Count).
		Set("mean_ms", Milliseconds(s.Mean)).Set("p50_ms", Milliseconds(s.P50)).Set("p99_ms", Milliseconds(s.P99)).
		Set("max_ms", Milliseconds(s.Max)).Set("min_ms", Milliseconds(s.Min))
}

// Rate sets per_s: how many of n there were a second. If no time passed it is null.
func (r *Row) Rate(n int64, elapsed time.Duration) *Row {
	perSecond := float64(n) / elapsed.Seconds()
	if perSecond >= 100 && !math.IsInf(perSecond, 0) {
		perSecond = math.Round(perSecond*10) / 10 // what lies beyond is noise
	}
	return r.Set("per_s", perSecond)
}

// Get returns a value, nil if there is none of that name.
func (r *Row) Get(name string) any { return r.values[name] }

// Number returns a value as a number, and false if it is none. It takes every numeric type, also as JSON is read back.
func (r *Row) Number(name string) (float64, bool) { return number(r.values[name]) }

// Names returns the names in their order.
func (r *Row) Names() []string { return append([]string(nil), r.names...) }

// MarshalJSON writes an object with the names in their order.
func (r *Row) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range r.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("writing the name %q of a row: %w", name, err)
		}
		value, err := json.Marshal(r.values[name])
		if err != nil {
			return nil, fmt.Errorf("writing the value %s of a row: %w", name, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object and keeps the order of its names. Numbers are json.Number.
func (r *Row) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	begin, err := d.Token()
	if err != nil {
		return fmt.Errorf("reading a row: %w", err)
	}
	if begin != json.Delim('{') {
		return fmt.Errorf("reading a row: it begins with %v, but a row is an object", begin)
	}
	*r = Row{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("reading a name of a row: %w", err)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("reading the value %v of a row: %w", name, err)
		}
		r.Set(name.(string), value) // within an object, what precedes a value is a string
	}
	return nil
}

// Milliseconds converts a duration for a value whose name ends in _ms.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case int32:
		return float64(v), true
	case uint64:
		return float64(v), true
	case uint32:
		return float64(v), true
	case uint:
		return float64(v), true
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}
