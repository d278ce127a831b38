package titanonehid

import "github.com/hikyaku/hikyaku/internal/macro"

// The kinds of reports.
const (
	kindOutput = 0x04
	kindEnter  = 0x07
	kindLeave  = 0x08
)

const (
	reportBytes = 64
	headBytes   = 4
)

// report is what is written to a hidraw file: the number of the report, which is 0 because the device has one sort, and
// the report.
type report [1 + reportBytes]byte

// make fills the report. s may be nil.
func (r *report) make(kind byte, s *macro.State) {
	*r = report{1: kind, 4: 1}
	if s == nil {
		return
	}
	r[2] = macro.Inputs
	for i, v := range s {
		r[1+headBytes+i] = byte(v)
	}
}
