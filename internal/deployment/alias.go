package deployment

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/function"
)

// noDice takes an alias's own version.
func noDice() float64 { return 1 }

// resolve finds the version that a qualifier names. dice is a number from 0 to 1, for aliases that share.
func (f *Function) resolve(qualifier string, dice func() float64) (Version, error) {
	if qualifier == "" || qualifier == function.Latest {
		return f.Latest, nil
	}
	if v, ok := f.versions[qualifier]; ok {
		return v, nil
	}
	a, ok := f.Aliases[qualifier]
	if !ok {
		return Version{}, unknown("function %s has no version or alias %s", f.Name, qualifier)
	}
	version := a.Version
	if len(a.Others) > 0 {
		at := dice()
		for _, other := range slices.Sorted(maps.Keys(a.Others)) {
			if at -= a.Others[other]; at < 0 {
				version = other
				break
			}
		}
	}
	if version == function.Latest {
		return f.Latest, nil
	}
	v, ok := f.versions[version]
	if !ok {
		return Version{}, unknown("function %s has no version %s, which its alias %s names", f.Name, version, qualifier)
	}
	return v, nil
}

// Version finds the version that a qualifier names: a number, $LATEST or "", or an alias.
func (r *Registry) Version(name, qualifier string) (*Function, Version, error) {
	f, err := r.Get(name)
	if err != nil {
		return nil, Version{}, r.notFound(name, qualifier)
	}
	v, err := f.resolve(qualifier, noDice)
	if err != nil {
		return nil, Version{}, r.notFound(name, qualifier)
	}
	return f, v, nil
}

func (r *Registry) notFound(name, qualifier string) error {
	return unknown("Function not found: %s", r.ARN(name, qualifier))
}

// maxAliases bounds the aliases of one function: all are in its one note.
const maxAliases = 100

// SetAlias makes an alias (fresh) or changes one. Errors: ErrUnknown, ErrExists, ErrInvalid, ErrChanged.
func (r *Registry) SetAlias(ctx context.Context, name string, a Alias, fresh bool) (Alias, error) {
	_, err := r.alter(name, func(f *Function) error {
		have, ok := f.Aliases[a.Name]
		switch {
		case !isName(a.Name, longestAlias) || digits(a.Name):
			return invalid("%q is no name of an alias: letters, digits, - and _, and not only digits",
				shortened(a.Name))
		case fresh && ok:
			return &wrong{ErrExists, "Alias already exists: " + r.ARN(name, a.Name)}
		case !fresh && !ok:
			return unknown("Cannot find alias arn: %s", r.ARN(name, a.Name))
		case fresh && len(f.Aliases) >= maxAliases:
			return invalid("function %s has %d aliases, the most there can be", name, len(f.Aliases))
		case a.Revision != "" && a.Revision != have.Revision:
			return Stale()
		case len(a.Others) > 1:
			return invalid("Number of items in AdditionalVersionWeights cannot be greater than 1")
		}
		for _, n := range append(slices.Collect(maps.Keys(a.Others)), a.Version) {
			if _, ok := f.versions[n]; !ok && n != function.Latest {
				return unknown("Function not found: %s", r.ARN(name, n))
			}
		}
		for n, share := range a.Others {
			switch {
			case a.Version == function.Latest:
				return invalid("$LATEST is not supported for an alias pointing to more than 1 version")
			case n == a.Version:
				return invalid("Invalid function version %s. Function version %s is already included in routing "+
					"configuration.", n, n)
			case n == function.Latest || share < 0 || share > 1:
				return invalid("an alias shares between two published versions, with a weight from 0 to 1")
			}
		}
		a.Revision = uuid.NewString()
		if f.Aliases == nil {
			f.Aliases = map[string]Alias{}
		}
		f.Aliases[a.Name] = a
		if f.Provisioned[a.Name] > 0 {
			if err := r.redeploy(f); err != nil {
				return err
			}
		}
		return r.keep(ctx, f)
	})
	return a, err
}

// forget removes what was said of an alias or a version that goes.
func (f *Function) forget(qualifier string) {
	delete(f.Provisioned, qualifier)
	delete(f.ProvisionAt, qualifier)
	delete(f.Events, qualifier)
	delete(f.URLs, qualifier)
	delete(f.Policies, qualifier)
	delete(f.Runtimes, qualifier)
}

// DeleteAlias removes an alias, with what was said of it. One that is not there is no error.
func (r *Registry) DeleteAlias(ctx context.Context, name, alias string) error {
	_, err := r.Change(ctx, name, func(f *Function) error {
		delete(f.Aliases, alias)
		f.forget(alias)
		return nil
	})
	return err
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
