package dead

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Cause is what deaths have in common: whose device it was, and what the far end said. There are few. The zero Cause
// is not known.
type Cause struct {
	App    string `json:"app,omitempty"`
	Of     string `json:"of,omitempty"` // its environment and topic, where these are not what the app has by default
	Reason string `json:"reason,omitempty"`
	Status int    `json:"status,omitempty"`
}

// Far ends make reasons, and messages may name topics, so there may be any number of causes.
const (
	mostExact   = 1000 // causes that are kept as they are
	mostCauses  = 2000 // with those that lack a reason; deaths beyond have no cause
	mostName    = 200  // bytes of each text of a cause
	causePrefix = "w"
)

// causes numbers the causes of a room, from 1. Only the grouper, and Start before it, change them.
type causes struct {
	mu  sync.RWMutex
	all map[uint16]Cause
	of  map[Cause]uint16
}

// get is the cause of a number.
func (cs *causes) get(number uint16) Cause {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	return cs.all[number]
}

func (cs *causes) has(number uint16) bool {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	_, is := cs.all[number]
	return is
}

// number is that of a cause, and fresh says that it is a new one, which set has to be told of once it is durable.
// begun are those that are fresh and on their way. 0: there are too many.
func (cs *causes) number(c Cause, begun map[Cause]uint16) (number uint16, kept Cause, fresh bool) {
	for _, text := range []*string{&c.App, &c.Of, &c.Reason} {
		*text = (*text)[:min(len(*text), mostName)]
	}
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	for _, most := range []int{mostExact, mostCauses} {
		if n := cs.of[c]; n != 0 {
			return n, c, false
		}
		if n := begun[c]; n != 0 {
			return n, c, false
		}
		if len(cs.of)+len(begun) < most {
			return cs.unused(begun), c, true
		}
		c.Reason, c.Status = "", 0
	}
	return 0, Cause{}, false
}

// unused is a number that is not in use. cs.mu is held.
func (cs *causes) unused(begun map[Cause]uint16) uint16 {
	taken := map[uint16]bool{}
	for _, n := range begun {
		taken[n] = true
	}
	for n := uint16(1); ; n++ {
		if _, used := cs.all[n]; !used && !taken[n] {
			return n
		}
	}
}

func (cs *causes) set(number uint16, c Cause) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.all == nil {
		cs.all, cs.of = map[uint16]Cause{}, map[Cause]uint16{}
	}
	cs.all[number], cs.of[c] = c, number
}

func (cs *causes) remove(number uint16) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.all[number]; cs.of[c] == number {
		delete(cs.of, c)
	}
	delete(cs.all, number)
}

// numbers are those of the causes for which is says yes.
func (cs *causes) numbers(is func(Cause) bool) map[uint16]Cause {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	found := map[uint16]Cause{}
	for n, c := range cs.all {
		if is(c) {
			found[n] = c
		}
	}
	return found
}

func causeKey(number uint16) string { return fmt.Sprintf("%s%04x", causePrefix, number) }

func causeNote(room string, number uint16, c Cause) (queue.Note, error) {
	value, err := json.Marshal(c)
	return queue.Note{Room: room, Key: causeKey(number), Value: value}, err
}

var errCause = errors.New("it is no cause of a number from 1 on")

// readCause reads a note whose key begins with causePrefix.
func readCause(key string, value []byte) (uint16, Cause, error) {
	digits, _ := strings.CutPrefix(key, causePrefix)
	number, err := strconv.ParseUint(digits, 16, 16)
	var c Cause
	if err != nil || len(digits) != 4 || number == 0 {
		return 0, c, errCause
	}
	if err := json.Unmarshal(value, &c); err != nil {
		return 0, c, fmt.Errorf("read a cause: %w", err)
	}
	return uint16(number), c, nil
}
