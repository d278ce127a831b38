package away

import "time"

const (
	firstSilence   = 10 * time.Second
	longestSilence = 10 * time.Minute
)

// Telling says when trouble is told that lasts: at once, again after 10 s, and then ever more rarely, up to 10 min.
// Trouble that comes back soon is told as rarely as before, but within 10 s. The zero Telling is ready. It is for one
// goroutine at a time.
type Telling struct {
	told    bool          // of the trouble that there is
	silence time.Duration // after it was told last
	next    time.Time     // nothing is told before
}

// Due tells whether the trouble that there is now is to be told now; who asks tells it.
func (t *Telling) Due(now time.Time) bool {
	if now.Before(t.next) {
		return false
	}
	if !t.told && now.Sub(t.next) > longestSilence { // it was calm
		t.silence = 0
	}
	t.silence = min(max(2*t.silence, firstSilence), longestSilence)
	t.next, t.told = now.Add(t.silence), true
	return true
}

// Over ends the trouble. It tells whether that is to be told, because the trouble was.
func (t *Telling) Over(now time.Time) (told bool) {
	told, t.told = t.told, false
	if soon := now.Add(firstSilence); t.next.After(soon) {
		t.next = soon
	}
	return told
}
