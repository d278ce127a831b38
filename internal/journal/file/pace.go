package file

import "time"

const (
	pieceBytes = 256 << 10 // copied at a time
	paceBurst  = 1 << 20   // what may be copied at once after a rest
	paceLook   = 10 * time.Millisecond

	restBytes = 512 << 10 // looked through for survivors between two rests
	restTime  = time.Millisecond
)

// pacer lets cleaning copy at a rate that those who append do not feel: a fixed number of bytes a second, and half of
// what is appended, or all of it when more is dead than alive: then it keeps up whatever is appended. When the disk is
// short nothing holds it up.
type pacer struct {
	j        *Journal
	budget   int64
	filled   time.Time // when the budget was
	appended uint64
	eager    bool  // more is dead than alive
	seen     int64 // bytes looked through since the last rest
}

func newPacer(j *Journal) *pacer { return &pacer{j: j, budget: paceBurst, filled: time.Now()} }

// wait waits until n more bytes may be copied. It fails with errStopped.
func (p *pacer) wait(n int) error {
	for {
		p.fill()
		if p.budget > 0 || p.j.short.Load() {
			p.budget -= int64(n)
			if p.j.closed.Load() {
				return errStopped
			}
			return nil
		}
		if err := p.pause(paceLook); err != nil {
			return err
		}
	}
}

// looked says that n bytes were looked through. It rests now and then: it is work for a processor, of which those who
// append need one, and takes long when a segment is large. It fails with errStopped.
func (p *pacer) looked(n int64) error {
	if p.seen += n; p.seen < restBytes || p.j.short.Load() {
		return nil
	}
	p.seen = 0
	return p.pause(restTime)
}

// fill adds what may be copied since the last time.
func (p *pacer) fill() {
	now, appended := time.Now(), p.j.count.bytes.Load()
	share := int64(appended-p.appended) / 2
	if p.eager {
		share *= 2
	}
	p.budget += int64(now.Sub(p.filled).Seconds()*float64(p.j.opts.CleanBytes)) + share
	p.budget = min(p.budget, paceBurst)
	p.filled, p.appended = now, appended
}

// pause waits, or fails with errStopped when the journal is closed.
func (p *pacer) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-p.j.quit:
		return errStopped
	}
}
