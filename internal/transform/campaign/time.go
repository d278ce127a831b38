package campaign

import (
	"errors"
	"sync"
	"time"
	_ "time/tzdata" // machines without a time zone database, as small containers are

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/message"
)

// wait is how long a message has to wait for its time; 0: not at all.
func (g *gate) wait(m *message.Message) time.Duration {
	local, given := m.Attributes.Get(campaign.Local)
	if !given && g.quiet == (hours{}) {
		return 0
	}
	now := g.clock()
	at := now.In(g.zone(m))
	if given {
		due, err := first(local.AsString(), at.Location())
		if err == nil && due.After(at) {
			at = due
		}
	}
	return g.quiet.end(at).Sub(now)
}

// first is the first instant at which a clock in a place shows a time; one that is put forward over it, a later one.
func first(local string, place *time.Location) (time.Time, error) {
	due, err := time.ParseInLocation(campaign.LocalForm, local, place)
	if err != nil {
		return due, err
	}
	begin, end := due.ZoneBounds()
	switch shown := due.Format(campaign.LocalForm); {
	case shown < local: // it is skipped, and what the library has chosen lies before that
		return end, nil
	case shown > local:
		return begin, nil
	case begin.IsZero():
		return due, nil
	}
	// A clock that is put back shows it twice.
	_, now := due.Zone()
	_, before := begin.Add(-time.Second).Zone()
	if earlier := due.Add(time.Duration(now-before) * time.Second); earlier.Before(begin) && before > now {
		return earlier, nil
	}
	return due, nil
}

// zone is where the user is.
func (g *gate) zone(m *message.Message) *time.Location {
	if g.attribute == "" {
		return g.zones.otherwise
	}
	v, _ := m.Attributes.Get(g.attribute)
	zone, known := g.zones.find(v.AsString())
	if !known {
		g.unknown.Add(1)
	}
	return zone
}

// hours are minutes of the day: from one until before the other.
type hours struct{ from, to int }

// within tells whether an instant is among them, by the clock of its location.
func (h hours) within(at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	if h.from <= h.to {
		return h.from <= minute && minute < h.to
	}
	return h.from <= minute || minute < h.to
}

// end is the first instant from at on that is not among them: at itself, or when they end.
func (h hours) end(at time.Time) time.Time {
	if !h.within(at) {
		return at
	}
	day := at.Day()
	if at.Hour()*60+at.Minute() >= h.to {
		day++
	}
	end := time.Date(at.Year(), at.Month(), day, h.to/60, h.to%60, 0, 0, at.Location())
	// A clock that is put forward may skip the end: then it is the first instant behind what is skipped.
	for h.within(end) {
		end = end.Add(time.Minute)
	}
	for before := end.Add(-time.Minute); before.After(at) && !h.within(before); before = end.Add(-time.Minute) {
		end = before
	}
	return end
}

// mostZones bounds the names that are remembered: there are some 600, and a message may have any.
const mostZones = 1000

// zones are locations by name. They may be asked for from any goroutine.
type zones struct {
	otherwise *time.Location
	mu        sync.RWMutex
	byName    map[string]*time.Location // nil: there is none of that name
}

// find returns the location of a name, or the one for names that are not known.
func (z *zones) find(name string) (zone *time.Location, known bool) {
	z.mu.RLock()
	zone, seen := z.byName[name]
	z.mu.RUnlock()
	if !seen {
		zone, _ = load(name)
		z.mu.Lock()
		if len(z.byName) < mostZones {
			z.byName[name] = zone
		}
		z.mu.Unlock()
	}
	if zone == nil {
		return z.otherwise, false
	}
	return zone, true
}

var errNoZone = errors.New("is no time zone: write an IANA name, as Asia/Tokyo")

// load finds a location. The machine's own is not one: nobody is there.
func load(name string) (*time.Location, error) {
	if name == "" || name == "Local" || len(name) > 64 {
		return nil, errNoZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errNoZone
	}
	return zone, nil
}
