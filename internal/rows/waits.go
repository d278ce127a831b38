package rows

import "sync/atomic"

// waits is why rows wait, as far as is known. The zero value is ready.
type waits struct{ why atomic.Pointer[error] }

// begin notes that rows wait now, and why.
func (w *waits) begin(why error) { w.why.Store(&why) }

// end notes that rows are written.
func (w *waits) end() {
	if w.why.Load() != nil { // most of the time there is nothing to write
		w.why.Store(nil)
	}
}

// Waits tells why rows wait: the database is away, full, or refuses us, or there is no table for them. nil: they are
// written, as far as is known.
func (s *Sink) Waits() error {
	if why := s.waits.why.Load(); why != nil {
		return *why
	}
	return nil
}
