package deployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment/event"
	"github.com/hikyaku/hikyaku/internal/deployment/pattern"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// maxFilters is the provider's usual bound of a mapping's filters.
const maxFilters = 5

// body is the name of the field whose value a filter sees as JSON, if it is.
const body = "body"

// filter is what a mapping's filters say; nil lets all pass.
type filter struct {
	patterns []*pattern.Pattern
	record   bool // a pattern asks for more than the body
}

func newFilter(texts []string) (*filter, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > maxFilters {
		return nil, invalid("a mapping has at most %d filters, not %d", maxFilters, len(texts))
	}
	f := &filter{}
	for _, text := range texts {
		p, err := pattern.Parse(text)
		if err != nil {
			return nil, invalid("Invalid filter pattern definition. %v", err)
		}
		f.patterns = append(f.patterns, p)
		f.record = f.record || !p.Only(body)
	}
	return f, nil
}

// passes tells whether one of the patterns matches a message as its record in an event shows it. A body that is a JSON
// object or array is one to patterns, so that a pattern for texts does not match it; every other body is a text, which
// a pattern for objects does not match.
func (f *filter) passes(m Mapping, region string, c *queue.Claim) (bool, error) {
	record := map[string]any{}
	if f.record {
		text, err := event.SQS(event.Batch{
			Messages: []*message.Message{&c.Message}, Attempts: []int{c.Attempt},
			Sequences: []uint64{c.Sequence}, Bodies: [][]byte{c.Body()}, ARN: m.SourceARN, Region: region,
		})
		if err != nil {
			return false, err
		}
		var all struct{ Records []json.RawMessage }
		if err := json.Unmarshal(text, &all); err != nil || len(all.Records) != 1 {
			return false, errors.Join(errors.New("an event is not as it has to be"), err)
		}
		v, err := pattern.Decode(all.Records[0])
		if err != nil {
			return false, err
		}
		record, _ = v.(map[string]any)
	}
	text := strings.ToValidUTF8(string(c.Body()), "\uFFFD")
	record[body] = text
	if v, err := pattern.Decode([]byte(text)); err == nil {
		switch v.(type) {
		case map[string]any, []any:
			record[body] = v
		}
	}
	for _, p := range f.patterns {
		if p.Match(record) {
			return true, nil
		}
	}
	return false, nil
}

// sift lets messages pass that a mapping's filters match, and settles the others: nobody sees them again.
func (r *Registry) sift(ctx context.Context, m Mapping, f *filter, claims []queue.Claim) []queue.Claim {
	if f == nil {
		return claims
	}
	passed := claims[:0]
	var settles []queue.Settlement
	for _, c := range claims {
		ok, err := f.passes(m, r.Region(), &c)
		if err != nil { // the function may know what to do with it
			r.config.Report(fmt.Errorf("filter a message of %s for function %s: %w", m.Queue, m.Function, err))
		}
		if ok || err != nil {
			passed = append(passed, c)
		} else {
			settles = append(settles, queue.Settlement{Token: c.Token, Kind: queue.Done})
		}
	}
	if len(settles) > 0 {
		r.settle(ctx, settles...)
	}
	return passed
}
