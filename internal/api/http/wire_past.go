package http

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Past is how busy some things were in the last 15 minutes.
type Past struct {
	// Time is when the newest point of each row is from. The one before it is Step seconds older, and so on.
	Time time.Time `json:"time"`
	Step float64   `json:"step_seconds"`
	Rows []PastRow `json:"rows"`
}

// PastRow is one thing, with its points by what they are of: see PastLines.
type PastRow struct {
	Name   string            `json:"name"` // of a queue namespace/name; of the sum ""
	Values map[string]Points `json:"values"`
}

// Points are values, the oldest first. NaN, in JSON null, is a point of which nothing is known.
type Points []float32

// MarshalJSON implements json.Marshaler.
func (p Points) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 5*len(p)+2), '[')
	for i, v := range p {
		if i > 0 {
			out = append(out, ',')
		}
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, f, 'g', -1, 32)
		}
	}
	return append(out, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Points) UnmarshalJSON(data []byte) error {
	var values []*float32
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*p = make(Points, len(values))
	for i, v := range values {
		if (*p)[i] = unknown; v != nil {
			(*p)[i] = *v
		}
	}
	return nil
}

// Range is the newest of the points, and the least and the most of those of which something is known; NaN: nothing is.
func (p Points) Range() (now, least, most float64) {
	now, least, most = math.NaN(), math.NaN(), math.NaN()
	for _, v := range p {
		if now = float64(v); math.IsNaN(now) {
			continue
		}
		if math.IsNaN(least) {
			least, most = now, now
		}
		least, most = min(least, now), max(most, now)
	}
	return now, least, most
}

// Floats are the points for a picture.
func (p Points) Floats() []float64 {
	all := make([]float64, len(p))
	for i, v := range p {
		all[i] = float64(v)
	}
	return all
}
