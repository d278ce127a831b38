package javascript

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// engine runs functions. It is what a process of ours does, and is used by one goroutine.
type engine struct {
	programs map[Function]*goja.Program
}

// maxCalls is how deep functions may call each other.
const maxCalls = 2000

// machine is one function, ready to be called: what its code left behind for it is its own until the request ends.
type machine struct {
	of   Function
	vm   *goja.Runtime
	call goja.Callable
}

// errTime is what a function is told whose time is over.
var errTime = errors.New("its time is over")

// do answers a request, a message at a time.
func (e *engine) do(q *request, answered func(*answer) error) error {
	machines := make([]*machine, len(q.functions))
	defer func() { clear(machines) }()
	if len(q.messages) == 0 {
		return answered(e.each(q, machines, func(*machine) (*answer, error) { return nil, nil }))
	}
	for i := range q.messages {
		m := q.messages[i]
		a := e.each(q, machines, func(x *machine) (*answer, error) { return x.apply(&m) })
		if a == nil {
			a = &answer{kind: isMessage, data: m.Data, attributes: m.Attributes}
		}
		if err := answered(a); err != nil {
			return err
		}
	}
	return nil
}

// each calls what is to be done for each function, until one says that the message is done. All of it has the time of
// one message. Without an answer it returns a good one of nothing, for a check, or nil.
func (e *engine) each(q *request, machines []*machine, do func(*machine) (*answer, error)) *answer {
	late := watch(q.time)
	defer late.stop()
	for i, f := range q.functions {
		a, err := func() (a *answer, err error) {
			defer func() {
				if p := recover(); p != nil { // reading what a function returned may call its code
					var is bool
					if err, is = p.(error); !is {
						err = fmt.Errorf("%v", p)
					}
				}
			}()
			if machines[i] == nil {
				vm, err := newRuntime()
				if err != nil {
					return nil, err
				}
				late.of(vm)
				if machines[i], err = e.machine(f, vm); err != nil {
					machines[i] = nil
					return nil, err
				}
			}
			late.of(machines[i].vm)
			return do(machines[i])
		}()
		if err != nil {
			return &answer{kind: isFailed, function: f.Name, reason: reason(err, q.time)}
		}
		if a != nil {
			return a
		}
	}
	return nil
}

// machine runs the code of a function, which defines it.
func (e *engine) machine(f Function, vm *goja.Runtime) (*machine, error) {
	p, err := e.program(f)
	if err != nil {
		return nil, err
	}
	if _, err := vm.RunProgram(p); err != nil {
		return nil, err
	}
	v := vm.Get(f.Name)
	if v == nil { // a const or a class's name is no property of the global object
		if v, err = vm.RunString(f.Name); err != nil {
			v = nil
		}
	}
	call, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fmt.Errorf("the code defines no function %s", f.Name)
	}
	return &machine{of: f, vm: vm, call: call}, nil
}

func (e *engine) program(f Function) (*goja.Program, error) {
	if p := e.programs[f]; p != nil {
		return p, nil
	}
	p, err := goja.Compile(f.Name, f.Code, false)
	if err != nil {
		return nil, err
	}
	if len(e.programs) >= maxPrograms {
		clear(e.programs)
	}
	if e.programs == nil {
		e.programs = map[Function]*goja.Program{}
	}
	e.programs[f] = p
	return p, nil
}

// apply gives a message to the function, and changes it as that says. An answer says that it is dropped.
func (x *machine) apply(m *Message) (*answer, error) {
	if !utf8.Valid(m.Data) {
		return nil, errors.New("the data of the message is not UTF-8")
	}
	given, metadata, attributes := x.vm.NewObject(), x.vm.NewObject(), x.vm.NewObject()
	for k, v := range m.Attributes {
		_ = attributes.Set(k, v)
	}
	_ = given.Set("data", string(m.Data))
	_ = given.Set("attributes", attributes)
	for name, value := range map[string]string{
		"message_id": m.ID, "ordering_key": m.Key, "publish_time": m.Time.UTC().Format("2006-01-02T15:04:05Z"),
	} {
		if value != "" {
			_ = metadata.Set(name, value)
		}
	}
	v, err := x.call(goja.Undefined(), given, metadata)
	switch {
	case err != nil:
		return nil, err
	case v == nil || goja.IsUndefined(v):
		return nil, errors.New("it returned nothing: a message or null is expected")
	case goja.IsNull(v):
		return &answer{kind: isDropped}, nil
	}
	return nil, x.take(m, v)
}

// take reads what the function returned.
func (x *machine) take(m *Message, v goja.Value) error {
	o, ok := v.(*goja.Object)
	if !ok {
		return fmt.Errorf("it returned %s: a message or null is expected", v.ExportType())
	}
	data, ok := textOf(o.Get("data"))
	if !ok {
		return errors.New("it returned no data, or data that is no string")
	}
	size, all := len(data), m.Attributes
	if v := o.Get("attributes"); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
		from, ok := v.(*goja.Object)
		if !ok {
			return errors.New("it returned attributes that are no object")
		}
		all = map[string]string{}
		for _, name := range from.Keys() {
			value, ok := textOf(from.Get(name))
			if !ok {
				return fmt.Errorf("it returned attribute %.40q that is no string", name)
			}
			name, value = strings.ToValidUTF8(name, "\ufffd"), strings.ToValidUTF8(value, "\ufffd")
			all[name] = value
			size += len(name) + len(value)
		}
	}
	if size > maxResult {
		return fmt.Errorf("it returned a message of %d bytes, %d at most", size, maxResult)
	}
	m.Data, m.Attributes = []byte(strings.ToValidUTF8(data, "\ufffd")), all
	return nil
}

// textOf is a string of JavaScript.
func textOf(v goja.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	s, ok := v.Export().(string)
	return s, ok
}

// reason is an error for a person, without the engine's own words for it.
func reason(err error, most time.Duration) string {
	var interrupted *goja.InterruptedError
	if errors.As(err, &interrupted) {
		return fmt.Sprintf("it took longer than %v", most)
	}
	var deep *goja.StackOverflowError
	if errors.As(err, &deep) {
		return "its calls nest too deeply"
	}
	text := strings.ToValidUTF8(err.Error(), "\ufffd")
	if len(text) > 500 {
		text = strings.ToValidUTF8(text[:500], "") + " …"
	}
	return text
}

// watching interrupts the runtime at work when the time is over: that of the processor, as far as others leave it.
type watching struct {
	mu    sync.Mutex
	vm    *goja.Runtime
	late  bool
	timer *time.Timer
}

func watch(after time.Duration) *watching {
	w := new(watching)
	used, rounds := cpuTime(), 1
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(after, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if left := after - (cpuTime() - used); left > 0 && rounds < maxRounds {
			rounds++
			w.timer.Reset(max(left, after/10))
			return
		}
		if w.late = true; w.vm != nil {
			w.vm.Interrupt(errTime)
		}
	})
	return w
}

// maxRounds is how often a function is given more time because the machine, busy with others, gave its process none.
const maxRounds = 4

// of says which runtime is at work from now on.
func (w *watching) of(vm *goja.Runtime) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.vm = vm; w.late {
		vm.Interrupt(errTime)
	} else {
		vm.ClearInterrupt()
	}
}

// stop lets nothing be interrupted any more.
func (w *watching) stop() {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.vm != nil {
		w.vm.ClearInterrupt()
	}
	w.vm = nil
}

// maxStack is the Go stack of the engine, which parses by recursion: beyond, the process ends.
const maxStack = 64 << 20

// maxHeap is from where on the garbage collector works for memory alone.
const maxHeap = 96 << 20

func bound() {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxHeap)
}
