package pace

import (
	"os"
	"os/signal"
)

// deaf makes this process take no notice of Ctrl-C. signal.Ignore does not do that on Windows: what nobody has asked to
// be told of ends the process there.
func deaf() { signal.Notify(make(chan os.Signal, 1), os.Interrupt) }
