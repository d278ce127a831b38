package mysql

import (
	"io"
	"sync"

	"github.com/dolthub/vitess/go/vt/log"
	"github.com/sirupsen/logrus"
)

// quiet keeps go-mysql-server and the protocol's library from writing logs of their own: what a person should know the
// door reports, and statements hold secrets. Both have one log for the process.
var quiet = sync.OnceFunc(func() {
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.PanicLevel) // what nobody reads is not put together
	print := func(...any) {}
	printf := func(string, ...any) {}
	log.Info, log.Warning, log.Error = print, print, print
	log.Infof, log.Warningf, log.Errorf = printf, printf, printf
})
