package door

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// unweighed is what values may take that are not counted by themselves: each connection has as much.
const unweighed = 8 << 10

// Weight is about what becomes of the values of a text in JSON when it is decoded, in bytes: of each value, and of an
// object besides. A name is a value, too.
type Weight struct{ Value, Object int64 }

// Values takes room for what becomes of the values of a text in JSON, beside what was taken for its length: many short
// ones take a hundred times as much. It does not wait, because it holds some. The errors are ErrNeverFits and ErrBusy.
func (h *Hold) Values(text []byte, each Weight) error {
	n := each.of(jsontext.MostValues(text))
	if spare := int64(len(text)) + unweighed; n > spare {
		all, objects := jsontext.Values(text)
		if n = each.of(all, objects); n <= spare {
			return nil
		}
		return h.TryMore(n-int64(len(text)), "decoding many short values")
	}
	return nil
}

func (w Weight) of(all, objects int64) int64 { return w.Value*all + w.Object*objects }

// TryMore takes n bytes more if there are so many left, without waiting, also when others wait for them. The errors are
// ErrNeverFits, where nobody else's requests are why, and ErrBusy; they say that what takes the bytes.
func (h *Hold) TryMore(n int64, what string) error {
	if all := h.Of.Limit(); n > all-h.n {
		return fmt.Errorf("%w: %s takes %d bytes, and there are %d", ErrNeverFits, what, h.n+n, all)
	}
	if err := h.Of.TryMore(n, what); err != nil {
		return err
	}
	h.n += n
	return nil
}
