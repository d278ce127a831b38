package deployment

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/hikyaku/hikyaku/internal/function"
)

// Spec is a function as a configuration says it.
type Spec struct {
	Name        string
	Settings    Settings
	Code        Code
	Reserved    *int
	Provisioned int // of $LATEST
	Retries     *int
	OnSuccess   string
	OnFailure   string
	URL         *URL // nil: none
}

// DifferentError says that a function is not as it is said to be.
type DifferentError struct {
	Name        string
	Differences []string // field: what it is, what it was to be
}

func (e *DifferentError) Error() string {
	return "function " + e.Name + " is there and is different: " + strings.Join(e.Differences, "; ")
}

// Is tells that a DifferentError is ErrExists.
func (e *DifferentError) Is(target error) bool { return target == ErrExists }

// Define makes a function that is missing. One that is there with other settings is a *DifferentError, unless adopt
// says to change it. Its code is always what the Spec says: that changes with every build. The function can be invoked
// when Define returns. For memory it is never refused: it is for the operator's own configuration.
func (r *Registry) Define(ctx context.Context, s Spec, adopt bool) error {
	ctx = context.WithValue(ctx, configured{}, true)
	have, err := r.Get(s.Name)
	if err != nil {
		if _, err := r.Create(ctx, s.Name, s.Settings, s.Code, nil); err != nil {
			return err
		}
		return r.rest(ctx, s)
	}
	if differences := s.differences(have); len(differences) > 0 {
		if !adopt {
			return &DifferentError{s.Name, differences}
		}
		if _, err := r.Update(ctx, s.Name, "", func(to *Settings) error { *to = s.Settings; return nil },
			&s.Code); err != nil {
			return err
		}
		return r.rest(ctx, s)
	}
	v := have.Latest
	if err := r.place(s.Code, &v); err != nil {
		return err
	}
	if v.Folder != have.Latest.Folder || v.SHA256 != have.Latest.SHA256 {
		_, err := r.Update(ctx, s.Name, "", nil, &s.Code)
		return err
	}
	return r.Ready(ctx, s.Name, "")
}

// rest sets what does not belong to a version.
func (r *Registry) rest(ctx context.Context, s Spec) error {
	_, err := r.Change(ctx, s.Name, func(f *Function) error {
		f.Reserved = s.Reserved
		set(&f.Provisioned, s.Provisioned, s.Provisioned == 0)
		set(&f.Events, s.events(), s.Retries == nil && s.OnSuccess == "" && s.OnFailure == "")
		delete(f.URLs, "")
		if s.URL != nil {
			if f.URLs == nil {
				f.URLs = map[string]URL{}
			}
			f.URLs[""] = *s.URL
		}
		return nil
	})
	return err
}

func (s *Spec) events() Events {
	return Events{Retries: s.Retries, OnSuccess: s.OnSuccess, OnFailure: s.OnFailure}
}

// set sets what is said of $LATEST, or takes it away.
func set[V any](m *map[string]V, v V, none bool) {
	if none {
		delete(*m, function.Latest)
		return
	}
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[function.Latest] = v
}

// differences says what is not as the Spec has it.
func (s *Spec) differences(f *Function) (all []string) {
	fields := func(settings Settings) map[string]string {
		text, err := json.Marshal(settings)
		if err != nil {
			return nil
		}
		var raw map[string]json.RawMessage
		if json.Unmarshal(text, &raw) != nil {
			return nil
		}
		out := map[string]string{}
		for name, value := range raw {
			out[name] = string(value)
		}
		return out
	}
	have, want := fields(f.Latest.Settings), fields(s.Settings)
	for name, value := range have {
		if want[name] != value {
			all = append(all, difference(name, value, want[name]))
		}
	}
	for name, value := range want {
		if _, ok := have[name]; !ok {
			all = append(all, difference(name, "", value))
		}
	}
	compare := func(name string, have, want any) {
		if !reflect.DeepEqual(have, want) {
			x, errX := json.Marshal(have)
			y, errY := json.Marshal(want)
			if errX == nil && errY == nil {
				all = append(all, difference(name, string(x), string(y)))
			}
		}
	}
	compare("concurrency", f.Reserved, s.Reserved)
	compare("provisioned", f.Provisioned[function.Latest], s.Provisioned)
	e := f.Events[function.Latest]
	compare("retries", e.Retries, s.Retries)
	compare("on_success", e.OnSuccess, s.OnSuccess)
	compare("on_failure", e.OnFailure, s.OnFailure)
	auth := func(u *URL) string {
		if u == nil {
			return ""
		}
		return u.Auth + " " + u.Mode
	}
	var url *URL
	if u, ok := f.URLs[""]; ok {
		url = &u
	}
	compare("url", auth(url), auth(s.URL))
	sort.Strings(all)
	return all
}

func difference(name, have, want string) string {
	say := func(s string) string {
		if s == "" {
			return "not set"
		}
		return shortened(s)
	}
	if name == "Environment" { // it may hold secrets
		return "environment is another one"
	}
	return fmt.Sprintf("%s is %s, not %s", strings.ToLower(name), say(have), say(want))
}
