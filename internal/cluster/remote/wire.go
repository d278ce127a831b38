package remote

import (
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// kind is the kind of the streams between two nodes that carry calls.
const kind = "store"

// service is the name of the gRPC service.
const service = "hikyaku.Store"

const (
	// mostFrame bounds a request and an answer. Stores bound what they take and, with mostBytes, what they give.
	mostFrame = 1 << 30
	// mostBytes is what the messages of one answer may have together where the caller names no bound, or a larger one.
	mostBytes = 64 << 20
)

// codec writes frames as CBOR: fields have names, so that a node of a later version may have more of them.
type codec struct{}

var (
	encoding = must(cbor.EncOptions{Time: cbor.TimeRFC3339NanoUTC}.EncMode())
	// What comes is from a node that has the secret: it is bounded by mostFrame alone.
	decoding = must(cbor.DecOptions{MaxArrayElements: 1 << 27, MaxMapPairs: 1 << 27, MaxNestedLevels: 32}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options are constants
	}
	return v
}

// Marshal implements gRPC's Codec.
func (codec) Marshal(v any) ([]byte, error) { return encoding.Marshal(v) }

// Unmarshal implements gRPC's Codec.
func (codec) Unmarshal(b []byte, v any) error { return decoding.Unmarshal(b, v) }

// Name implements gRPC's Codec.
func (codec) Name() string { return "cbor" }

// request is the first frame of a call.
type request[A any] struct {
	Shard int
	Args  A
}

// reply is what a caller says to a question.
type reply struct {
	Home   queue.Name // what a letter's queue is called now
	Failed bool       // the caller keeps the reason
}

// answer is what a caller gets: a question, or at last the result.
type answer[R any] struct {
	Hold   *sizes      `cbor:",omitempty"` // may the bodies of so much be read?
	Home   *queue.Name `cbor:",omitempty"` // what is it called now?
	Result R
	Error  *failure `cbor:",omitempty"`
}

// asks tells whether the answer is a question.
func (a *answer[R]) asks() bool { return a.Hold != nil || a.Home != nil }

type sizes struct{ Sum, Largest int64 }

// where is a condition as its text.
type where struct {
	Text string
	None bool
}

func whereOf(e *condition.Expr) where {
	if e == nil {
		return where{None: true}
	}
	return where{Text: e.String()}
}

func (w where) parse() (*condition.Expr, error) {
	if w.None {
		return nil, nil
	}
	e, err := condition.Parse(w.Text)
	if err != nil {
		return nil, fmt.Errorf("%w: of another node: %w", queue.ErrCondition, err)
	}
	return e, nil
}

// tables are the columns of several rows, each once.
type tables struct {
	Columns []message.Columns
	Of      []int // of each row, from 1; 0: it has none
}

// add notes the columns of the next row.
func (t *tables) add(c message.Columns) {
	if c == nil {
		t.Of = append(t.Of, 0)
		return
	}
	for i := len(t.Columns) - 1; i >= 0; i-- { // rows of one queue come one after another
		if same(t.Columns[i], c) {
			t.Of = append(t.Of, i+1)
			return
		}
	}
	t.Columns = append(t.Columns, c)
	t.Of = append(t.Of, len(t.Columns))
}

// same tells whether they are one queue's, as stores hand them out.
func same(a, b message.Columns) bool {
	return len(a) == len(b) && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// of are the columns of row i.
func (t *tables) of(i int) message.Columns {
	if i >= len(t.Of) || t.Of[i] <= 0 || t.Of[i] > len(t.Columns) {
		return nil
	}
	return t.Columns[t.Of[i]-1]
}
