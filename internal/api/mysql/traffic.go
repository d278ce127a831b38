package mysql

import (
	"errors"
	"strconv"
	"sync"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
)

// Calls, as they are counted.
const (
	callQuery   = "query"   // a statement sent as text
	callPrepare = "prepare" // one that is prepared
	callExecute = "execute" // one that was prepared
)

// maxCodes is how many numbers of errors are counted apart: a client can give a SIGNAL any number.
const maxCodes = 200

// traffic counts the statements of a door, by call and MySQL's number of the error; 0: none.
type traffic struct {
	of    *door.Traffic // nil: nobody counts
	mu    sync.Mutex
	codes map[int]bool
}

func (t *traffic) ended(call string, err error) {
	if t.of == nil {
		return
	}
	if err == nil {
		t.of.Ended(call, "0")
		return
	}
	number := 1105
	var known *vmysql.SQLError
	if errors.As(err, &known) {
		number = known.Num
	}
	t.mu.Lock()
	counted := t.codes[number] || len(t.codes) < maxCodes
	if counted && !t.codes[number] {
		if t.codes == nil {
			t.codes = map[int]bool{}
		}
		t.codes[number] = true
	}
	t.mu.Unlock()
	if !counted {
		t.of.Ended(call, "other")
		return
	}
	t.of.Ended(call, strconv.Itoa(number))
}
