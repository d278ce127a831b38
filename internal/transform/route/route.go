// Package route is the transform that sends messages different ways by conditions:
//
//	transforms:
//	  by_level:
//	    type: route
//	    inputs: [fields]
//	    routes:
//	      errors: level >= 4
//	      japanese: lang = 'ja'
//	sinks:
//	  pager: { type: webhook, inputs: [by_level.errors], … }
//	  rest:  { type: file, inputs: [by_level._unmatched], … }
//
// A message takes every route whose condition it meets, or with first: true only the first as they are written. One
// that meets none takes _unmatched; when nothing is joined to that port, the pipeline drops it. What names in
// conditions mean, codec.Matcher tells.
package route

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Unmatched is the port of messages that meet no condition.
const Unmatched = "_unmatched"

// maxRoutes bounds the conditions that each message is held against.
const maxRoutes = 1000

// Config are the settings of a route.
type Config struct {
	Routes Routes `yaml:"routes" required:"true" doc:"Names with a condition each. Other components take a route's messages as component.name, and those that match none as component._unmatched."`
	First  bool   `yaml:"first" doc:"A message takes only the first route that it matches, not every one."`
}

// Route is a port and the condition of the messages that take it.
type Route struct {
	Name  string // letters, digits, _ and -; not beginning with _
	Where string // in the language of package condition
}

// Routes are in the order in which they are written.
type Routes []Route

// SetPairs takes the mapping of names to conditions as the configuration has it.
func (r *Routes) SetPairs(pairs []component.Pair) error {
	routes := make(Routes, 0, len(pairs))
	for _, p := range pairs {
		where, ok := p.Value.(string)
		if !ok {
			return &component.SettingError{Setting: p.Key, Offset: -1,
				Err:  fmt.Errorf("a condition is wanted, not %v", p.Value),
				Hint: "put the condition in quotes"}
		}
		routes = append(routes, Route{p.Key, where})
	}
	*r = routes
	return nil
}

// New checks the settings. Errors are *component.SettingError; one about a condition holds the byte where it went wrong
// and wraps a *condition.Error.
func New(c Config, _ component.Env) (component.Transform, error) {
	if len(c.Routes) == 0 {
		return nil, &component.SettingError{Setting: "routes", Offset: -1, Err: errors.New("there is no route"),
			Hint: "write at least one, as in errors: level >= 4"}
	}
	if len(c.Routes) > maxRoutes {
		return nil, component.Setting("routes", fmt.Errorf("there are %d routes, the most are %d", len(c.Routes),
			maxRoutes))
	}
	t := &transform{first: c.First}
	var conditions []*condition.Expr
	seen := map[string]bool{}
	for _, r := range c.Routes {
		if err := checkName(r.Name, seen); err != nil {
			return nil, err
		}
		where, err := condition.Parse(r.Where)
		if err != nil {
			return nil, whereError(r.Name, err)
		}
		conditions = append(conditions, where)
		t.ports = append(t.ports, r.Name)
	}
	t.matcher = codec.NewMatcher(conditions...)
	return t, nil
}

func checkName(name string, seen map[string]bool) error {
	setting := "routes." + name
	valid := name != ""
	for _, c := range name {
		valid = valid && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	switch {
	case !valid:
		return &component.SettingError{Setting: setting, Offset: -1, Err: fmt.Errorf("%q is no name for a route", name),
			Hint: "letters, digits, _ and - make one"}
	case name[0] == '_':
		return &component.SettingError{Setting: setting, Offset: -1, Err: fmt.Errorf("the name %s begins with _", name),
			Hint: "such names are hikyaku's own; " + Unmatched + " is there by itself"}
	case seen[name]:
		return component.Setting(setting, errors.New("the route is there twice"))
	}
	seen[name] = true
	return nil
}

func whereError(name string, err error) error {
	setting := &component.SettingError{Setting: "routes." + name, Offset: -1, Err: err}
	var bad *condition.Error
	if errors.As(err, &bad) {
		setting.Offset = bad.Offset
	}
	return setting
}

type transform struct {
	ports   []string // by the place of their conditions in matcher
	matcher *codec.Matcher
	first   bool
}

// Ports names the routes in their order, and Unmatched.
func (t *transform) Ports() []string {
	return append(append(make([]string, 0, len(t.ports)+1), t.ports...), Unmatched)
}

func (t *transform) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
	subject := t.matcher.Subject(m)
	matched := false
	for i, port := range t.ports {
		if !subject.Match(i) {
			continue
		}
		matched = true
		emit(port, m.Clone())
		if t.first {
			break
		}
	}
	if !matched {
		emit(Unmatched, m.Clone())
	}
	return nil
}
