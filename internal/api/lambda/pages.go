package lambda

import (
	"net/http"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/door"
)

// entry makes an entry of a list.
type entry func() any

const (
	// listBytes bounds the answer with a list; clients ask for the next page. entryCost is what an entry takes, in its
	// own length: what it is made of, its text, and the answer.
	listBytes = 4 << 20
	entryCost = 4
)

// answerPage answers with a page of a list, as MaxItems and Marker ask, and as far as there is room for it. The marker
// is the place of the first one.
func (c *call) answerPage(name string, all []entry) (err error) {
	q := c.r.URL.Query()
	from, size := 0, 50
	if text := q.Get("Marker"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 || from > len(all) {
			return wrongValue("Invalid Marker")
		}
	}
	if text := q.Get("MaxItems"); text != "" {
		if size, err = strconv.Atoi(text); err != nil || size < 1 || size > 10_000 {
			return wrongValue("MaxItems is a number from 1 to 10000")
		}
	}
	p := door.Page{Hold: &c.hold, Most: listBytes, Cost: entryCost}
	page, n, err := door.Entries(c.ctx(), &p, all[from:min(from+size, len(all))],
		func(e entry) (any, error) { return e(), nil })
	if err != nil {
		return err
	}
	var next *string
	if end := from + n; end < len(all) {
		marker := strconv.Itoa(end)
		next = &marker
	}
	return c.answer(http.StatusOK, map[string]any{name: page, "NextMarker": next})
}
