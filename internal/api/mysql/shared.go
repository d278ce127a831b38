package mysql

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	engine "github.com/dolthub/go-mysql-server"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
)

// What stands here lets sessions share the variables that they have not set. go-mysql-server copies all for each
// connection: 26 KiB of system variables, and 48 KiB of counters.

// sharedVariables are the system variables of the process.
type sharedVariables struct {
	gms.SystemVariableRegistry
	mu  sync.Mutex
	now map[string]gms.SystemVarValue // of sessions that begin now, never changed; nil: it has to be made
}

// ofSession are the values of a session that begins. They belong to all, and are not to be changed.
func (v *sharedVariables) ofSession() map[string]gms.SystemVarValue {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now == nil {
		v.now = v.SystemVariableRegistry.NewSessionMap()
	}
	return v.now
}

// readByBase are the variables that gms.BaseSession itself reads, as it does where they are.
var readByBase = []string{"character_set_connection", "character_set_results", "collation_connection"}

// NewSessionMap is what gms.BaseSession keeps.
func (v *sharedVariables) NewSessionMap() map[string]gms.SystemVarValue {
	all, own := v.ofSession(), make(map[string]gms.SystemVarValue, len(readByBase))
	for _, name := range readByBase {
		own[name] = all[name]
	}
	return own
}

func (v *sharedVariables) changed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = nil
}

// AddSystemVariables implements gms.SystemVariableRegistry, as the others do.
func (v *sharedVariables) AddSystemVariables(added []gms.SystemVariable) {
	v.SystemVariableRegistry.AddSystemVariables(added)
	v.changed()
}

func (v *sharedVariables) AssignValues(values map[string]any) error {
	defer v.changed()
	return v.SystemVariableRegistry.AssignValues(values)
}

func (v *sharedVariables) SetGlobal(ctx *gms.Context, name string, value any) error {
	defer v.changed()
	if known, _, ok := v.GetGlobal(name); ok {
		var err error
		if value, err = ranged(ctx, known, strings.ToLower(name), value, sessionOf(ctx).strict()); err != nil {
			return err
		}
	}
	return v.SystemVariableRegistry.SetGlobal(ctx, name, value)
}

// sharedCounters are the counters of the process, those of sessions at 0 among them.
type sharedCounters struct {
	gms.StatusVariableRegistry
	zero map[string]gms.StatusVarValue // never changed
}

// NewSessionMap is what gms.BaseSession keeps: nothing.
func (c *sharedCounters) NewSessionMap() map[string]gms.StatusVarValue { return nil }

// making is held while an engine is made, which sets the counters of the process: doors may open at the same time.
var making sync.Mutex

func newEngine(a *analyzer.Analyzer) *engine.Engine {
	making.Lock()
	defer making.Unlock()
	e := engine.New(a, &engine.Config{})
	shareCounters()
	noShortcuts()
	groupingIsAnAggregate()
	correctColumnsTable()
	return e
}

// shareCounters is called when there is an engine, which makes the counters.
var shareCounters = sync.OnceValue(func() *sharedCounters {
	c := &sharedCounters{gms.StatusVariables, gms.StatusVariables.NewSessionMap()}
	gms.StatusVariables = c
	return c
})

// ownVariables are what a session has set, and counted.
type ownVariables struct {
	shared   map[string]gms.SystemVarValue
	own      map[string]gms.SystemVarValue
	counters map[string]gms.StatusVarValue
}

func newVariables() ownVariables { return ownVariables{shared: variables().ofSession()} }

func (v *ownVariables) of(name string) (gms.SystemVarValue, bool) {
	if value, own := v.own[name]; own {
		return value, true
	}
	value, ok := v.shared[name]
	return value, ok
}

// worded is a variable's value as clients see it: of a set of words the words.
func worded(typ gms.Type, value any) (any, error) {
	set, ok := typ.(gms.SetType)
	bits, also := value.(uint64)
	if !ok || !also {
		return value, nil
	}
	return set.BitsToString(bits)
}

// freeVariables is how many variables a session may set within sessionBytes; each more counts for variableBytes.
const freeVariables, variableBytes = 16, 256

// assign sets a variable. What is read by gms.BaseSession is set there, too.
func (s *session) assign(ctx *gms.Context, lower string, value any) error {
	now, ok := s.variables.of(lower)
	if !ok {
		if now.Var, _, ok = gms.SystemVariables.GetGlobal(lower); !ok {
			return gms.ErrUnknownSystemVariable.New(lower)
		}
	} else if now.Var.IsReadOnly() {
		return gms.ErrSystemVariableReadOnly.New(lower)
	}
	value, err := ranged(ctx, now.Var, lower, value, s.strict())
	if err != nil {
		return err
	}
	if n, ok := value.(uint64); ok && lower == limitVariable && n > math.MaxInt64 {
		value = noLimit // the rule that heeds it counts up to this
	}
	set, err := now.Var.SetValue(ctx, value, false)
	if err != nil {
		return err
	}
	old, again := s.variables.own[lower]
	was, bytes := textBytes(old.Val), textBytes(set.Val)
	if !again && len(s.variables.own) >= freeVariables {
		bytes += variableBytes
	}
	if !s.kept.change(was, bytes) {
		return errKept("the value of " + lower)
	}
	if slices.Contains(readByBase, lower) {
		if err := s.BaseSession.SetSessionVariable(ctx, lower, value); err != nil {
			return err
		}
	}
	if s.variables.own == nil {
		s.variables.own = map[string]gms.SystemVarValue{}
	}
	s.variables.own[lower] = set
	return nil
}

// textBytes is what a variable's value takes beside its place.
func textBytes(v any) int64 {
	text, _ := v.(string)
	return int64(len(text))
}

// GetSessionVariable knows the counts of warnings, which go-mysql-server does not.
func (s *session) GetSessionVariable(_ *gms.Context, name string) (any, error) {
	lower := strings.ToLower(name)
	switch lower {
	case warningsVariable:
		return int64(s.warned), nil
	case errorsVariable:
		return int64(0), nil // errors leave nothing behind: SHOW ERRORS is empty
	}
	v, ok := s.variables.of(lower)
	if !ok {
		return nil, gms.ErrUnknownSystemVariable.New(lower)
	}
	return worded(v.Var.GetType(), v.Val)
}

// GetSessionVariableDefault implements gms.Session, as the others do.
func (s *session) GetSessionVariableDefault(_ *gms.Context, name string) (any, error) {
	v, ok := s.variables.of(strings.ToLower(name))
	if !ok {
		return nil, gms.ErrUnknownSystemVariable.New(name)
	}
	return worded(v.Var.GetType(), v.Var.GetDefault())
}

func (s *session) GetAllSessionVariables() map[string]any {
	all := make(map[string]any, len(s.variables.shared))
	for _, values := range []map[string]gms.SystemVarValue{s.variables.shared, s.variables.own} {
		for name, v := range values {
			if text, err := worded(v.Var.GetType(), v.Val); err == nil {
				all[name] = text
			}
		}
	}
	return all
}

// IncrementStatusVariable counts: a counter is made when it is first counted with.
func (s *session) IncrementStatusVariable(_ *gms.Context, name string, by int) {
	c, ok := s.variables.counters[name]
	if !ok {
		zero, counts := shareCounters().zero[name].(*gms.MutableStatusVarValue)
		if !counts {
			return
		}
		if s.variables.counters == nil {
			s.variables.counters = map[string]gms.StatusVarValue{}
		}
		c = &gms.MutableStatusVarValue{Var: zero.Var, Val: new(atomic.Uint64)}
		s.variables.counters[name] = c
	}
	_ = c.Increment(uint64(by)) // a counter of this kind takes all numbers; negative ones count down
}

func (s *session) GetAllStatusVariables(*gms.Context) map[string]gms.StatusVarValue {
	all := maps.Clone(shareCounters().zero)
	maps.Copy(all, s.variables.counters)
	return all
}

func (s *session) GetStatusVariable(ctx *gms.Context, name string) (any, error) {
	c, ok := s.GetAllStatusVariables(ctx)[name]
	if !ok {
		return nil, gms.ErrUnknownSystemVariable.New(name)
	}
	return c.Value(), nil
}
