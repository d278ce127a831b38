package lambda

import (
	"context"
	"encoding/base64"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// awayStore is a store that nobody can ask while it is gone: one that another machine has.
type awayStore struct {
	queue.Service
	gone atomic.Bool
}

func (s *awayStore) wrap(store queue.Service) queue.Service {
	s.Service = store
	return s
}

func (s *awayStore) err() error {
	if s.gone.Load() {
		return queue.ErrUnavailable
	}
	return nil
}

func (s *awayStore) Definition(ctx context.Context, n queue.Name) (queue.Definition, uint64, error) {
	if err := s.err(); err != nil {
		return queue.Definition{}, 0, err
	}
	return s.Service.Definition(ctx, n)
}

func (s *awayStore) CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (bool, error) {
	if err := s.err(); err != nil {
		return false, err
	}
	return s.Service.CreateQueue(ctx, n, d)
}

func (s *awayStore) SetNotes(ctx context.Context, notes ...queue.Note) error {
	if err := s.err(); err != nil {
		return err
	}
	return s.Service.SetNotes(ctx, notes...)
}

// TestWhatCannotBeAskedIsUnavailable: nothing is missing, and nothing is wrong with what the client wants.
func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	store := &awayStore{}
	r := openRig(t, t.TempDir(), Config{}, nil, store.wrap)
	r.create("f", map[string]any{"Timeout": 30})
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "work"},
		[]message.Message{{Body: []byte("first")}}); err != nil {
		t.Fatal(err)
	}
	zip := base64.StdEncoding.EncodeToString(packed(t, "app.py", program))
	mapping := `{"FunctionName":"f","Enabled":false,"EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:work"}`
	const mappings = "/2015-03-31/event-source-mappings/"
	store.gone.Store(true)
	for _, c := range []struct{ method, path, body string }{
		{"POST", mappings, mapping},
		{"POST", functions + "/f/invoke-async", "{}"},
		{"POST", functions, `{"FunctionName":"g","Runtime":"python3.11","Handler":"app.handler","Role":` +
			`"arn:aws:iam::000000000000:role/any","Code":{"ZipFile":"` + zip + `"}}`},
		{"PUT", functions + "/f/configuration", `{"Timeout":5}`},
		{"DELETE", functions + "/f", ""},
	} {
		g := r.call(c.method, c.path, c.body)
		if name := g.Header.Get("X-Amzn-Errortype"); g.StatusCode != http.StatusServiceUnavailable ||
			name != "ServiceException" {
			t.Errorf("%s %s: %s %s: %s", c.method, c.path, g.Status, name, g.text)
		}
	}
	store.gone.Store(false)
	if g := r.invoke("f", `{"answer":1}`); g.text != "1" {
		t.Errorf("the function is not what it was: %s", g.text)
	}
	r.ok(http.StatusAccepted, "POST", mappings, mapping)
}
