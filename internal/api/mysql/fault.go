package mysql

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// A panic is a mistake in the code, ours or go-mysql-server's. What becomes of the connection depends on what was
// being done.
//
//   - While a statement is parsed, bound to tables and planned, nothing of it has been done: no row was read, put or
//     claimed, and all locks of that phase are released by deferred calls. The statement is answered with an error, and
//     the connection goes on with what it owns.
//   - From the first row iterator that is built until the last row was sent, and in the door's own code before and
//     after, nobody knows what was done and what was not. The connection ends, and what it owned goes back: see
//     handler.panicked.

// unplanned answers a statement whose parsing or planning met a panic, and leaves one that was already running to
// the caller. It is to be deferred.
func (h *handler) unplanned(s *session, err *error) {
	if s == nil || s.meter != nil && s.meter.running {
		return
	}
	if p := recover(); p != nil {
		*err = h.planFault(p)
	}
}

// planFault is the error for a panic of the planner. It is called while the stack still has the place.
func (h *handler) planFault(p any) error {
	if known := knownFaults[panicPlace()]; known != nil {
		return known
	}
	h.door.report(fmt.Errorf("a statement could not be planned, because of a panic: %v\n%s", p, debug.Stack()))
	return sqlError(erUnknown, "HY000", "The statement met a fault of this server before anything of it was done; "+
		"the connection goes on: the server's log has the details, please report them")
}

// knownFaults are mistakes that go-mysql-server's planner ends in a panic for, by the function that panics.
var knownFaults = map[string]error{
	"planbuilder.(*Builder).getJsonValueTypeLiteral": sqlError(erSyntax, "42000",
		"JSON_VALUE() has two arguments: what else is wanted of it stands behind RETURNING"),
	"planbuilder.(*Builder).mergeSetOpScopeColumns": sqlError(erWrongColumnCount, "21000",
		"The used SELECT statements have a different number of columns"),
	"expression.(*DefaultColumn).Type": sqlError(erUnsupported, "42000",
		"DEFAULT(…) of a column is not supported in expressions: write the value"),
}

// panicPlace is the function that panicked, as "package.Function", when it is called by a deferred function. A
// panic that was recovered and raised again counts where it was first.
func panicPlace() (place string) {
	var calls [256]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(1, calls[:])])
	for below, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			below = true
		case below && !strings.HasPrefix(f.Function, "runtime."):
			place, below = f.Function[strings.LastIndexByte(f.Function, '/')+1:], false
		}
	}
	return place
}
