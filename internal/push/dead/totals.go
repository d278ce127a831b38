package dead

import (
	"cmp"
	"slices"
	"time"
)

// Total is how many devices died on a day for a cause.
type Total struct {
	Cause
	Day     time.Time // its beginning, UTC
	Devices int
}

// mostTotals bounds the rows of Totals.
const mostTotals = 10_000

// Totals counts the dead devices that are meant by cause and day, the latest days first. rest is how many more there
// are where this has too many rows.
func (r *Registry) Totals(s Selection) (totals []Total, rest int, err error) {
	if r.marks.Load() == nil {
		return nil, 0, ErrNotOpen
	}
	type row struct {
		what uint16
		day  uint32
	}
	const secondsOfDay = 24 * 60 * 60
	counts := map[row]int{}
	match := r.matching(s)
	r.known.all(func(e entry) {
		if !match(e) {
			return
		}
		at := row{e.what, e.at / secondsOfDay}
		if counts[at] == 0 && len(counts) >= mostTotals {
			rest++
			return
		}
		counts[at]++
	})
	for at, n := range counts {
		totals = append(totals, Total{r.causes.get(at.what), time.Unix(int64(at.day)*secondsOfDay, 0).UTC(), n})
	}
	slices.SortFunc(totals, func(a, b Total) int {
		return cmp.Or(b.Day.Compare(a.Day), cmp.Compare(a.App, b.App), cmp.Compare(a.Of, b.Of),
			cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Status, b.Status))
	})
	return totals, rest, nil
}

// Found is one of the deaths of a token. An app may have several for it, each of another environment or topic.
type Found struct {
	Cause
	Since time.Time
}

// Find tells under what a token is known to be dead. App and Of are known also where the reason is not.
func (r *Registry) Find(s Selection) ([]Found, error) {
	switch {
	case r.marks.Load() == nil:
		return nil, ErrNotOpen
	case s.Token == "":
		return nil, ErrNoSelection
	}
	var found []Found
	match := r.matching(s)
	for key, at := range r.candidates(&s) {
		e := r.known.get(key)
		if e.at == 0 || !match(e) {
			continue
		}
		f := Found{r.causes.get(e.what), time.Unix(int64(e.at), 0).UTC()}
		f.App, f.Of = at.App, at.Of
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Found) int { return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Of, b.Of)) })
	return found, nil
}

// Platform is that of the far end: "apns", "fcm", "hms", "webpush", "wns".
func (r *Registry) Platform() string { return r.config.Platform }
