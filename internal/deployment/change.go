package deployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// maxFunctions and maxVersions bound what is kept.
const (
	maxFunctions = 10_000
	maxVersions  = 1_000
)

// Create makes a function. It is durable and can be invoked when Create returns. Errors: ErrExists, ErrInvalid, and
// those of function.Pool.Deploy.
func (r *Registry) Create(ctx context.Context, name string, s Settings, c Code, tags map[string]string) (*Function,
	error) {
	return r.CreateSigned(ctx, name, "", s, c, tags)
}

// CreateSigned is Create for a function that has a code signing configuration from the beginning; signing is its ARN,
// "" for none. It is ErrUnknown if it is not there.
func (r *Registry) CreateSigned(ctx context.Context, name, signing string, s Settings, c Code,
	tags map[string]string) (*Function, error) {
	if !isName(name, longestName) {
		return nil, invalid("%q is no name of a function: up to 64 letters, digits, - and _", shortened(name))
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("function %s: %w", name, err)
	}
	r.change.Lock()
	defer r.change.Unlock()
	if err := r.attach(&s); err != nil {
		return nil, err
	}
	r.mu.RLock()
	have, count := r.all[name], len(r.all)
	r.mu.RUnlock()
	if have != nil {
		return nil, &wrong{ErrExists, "Function already exist: " + name}
	}
	if count >= maxFunctions {
		return nil, invalid("there are %d functions, the most there can be", count)
	}
	f := &Function{Name: name, Tags: tags, versions: map[string]Version{}}
	if err := r.sign(f, signing); err != nil {
		return nil, err
	}
	f.Latest = Version{Number: function.Latest, Settings: s}
	if err := r.place(c, &f.Latest); err != nil {
		return nil, fmt.Errorf("function %s: %w", name, err)
	}
	if err := r.put(ctx, f); err != nil {
		r.unkept(err, f.Latest.SHA256)
		return nil, err
	}
	return f, nil
}

// put deploys a changed $LATEST and keeps it: code that cannot be used never becomes the function's. The caller holds
// r.change.
func (r *Registry) put(ctx context.Context, f *Function) error {
	f.Latest.Changed, f.Latest.Revision = time.Now(), uuid.NewString()
	if err := r.deploy(f, f.Latest); err != nil {
		return err
	}
	err := r.spread(ctx, f.Latest.SHA256)
	if err == nil {
		err = r.keep(ctx, f)
	}
	if err != nil {
		r.withdraw(f.Name, function.Latest) // what it was is given to the pool again when it is wanted
		return err
	}
	return nil
}

// Update changes settings or code of a function's $LATEST. Both may be nil. revision, if not "", is what the caller has
// seen; errors: ErrUnknown, ErrChanged, ErrInvalid, and those of function.Pool.Deploy, after which the function is as
// it was.
func (r *Registry) Update(ctx context.Context, name, revision string, settings func(*Settings) error,
	c *Code) (*Function, error) {
	return r.alter(name, func(f *Function) error {
		if revision != "" && revision != f.Latest.Revision {
			return Stale()
		}
		unused := f.Latest.archivesOf()
		if settings != nil {
			if err := settings(&f.Latest.Settings); err != nil {
				return err
			}
			if err := r.attach(&f.Latest.Settings); err != nil {
				return err
			}
			if err := f.Latest.Settings.check(); err != nil {
				return fmt.Errorf("function %s: %w", name, err)
			}
		}
		if c != nil {
			if err := r.place(*c, &f.Latest); err != nil {
				return fmt.Errorf("function %s: %w", name, err)
			}
		}
		err := r.put(ctx, f)
		if err != nil {
			r.unkept(err, f.Latest.archivesOf()...)
			return err
		}
		r.drop(unused...)
		return nil
	})
}

// Change changes what does not belong to a version: tags, concurrency, events, URLs, policies.
func (r *Registry) Change(ctx context.Context, name string, change func(*Function) error) (*Function, error) {
	return r.alter(name, func(f *Function) error {
		before, err := copyOf(f)
		if err != nil {
			return err
		}
		if err := change(f); err != nil {
			return err
		}
		for _, e := range f.Events {
			for _, to := range []string{e.OnFailure, e.OnSuccess} {
				if to == "" {
					continue
				}
				if _, err := parseTarget(to); err != nil {
					return fmt.Errorf("function %s: %w", name, err)
				}
			}
		}
		if err := f.checkConcurrency(); err != nil {
			return err
		}
		if !reflect.DeepEqual(before.Reserved, f.Reserved) || !reflect.DeepEqual(before.Provisioned, f.Provisioned) {
			if err := r.redeploy(f); err != nil {
				return err
			}
		}
		return r.keep(ctx, f)
	})
}

// checkConcurrency tells whether what is provisioned, of all versions and aliases, fits into what is reserved for them
// together.
func (f *Function) checkConcurrency() error {
	if f.Reserved == nil {
		return nil
	}
	sum := 0
	for _, n := range f.Provisioned {
		sum += n
	}
	if sum > *f.Reserved {
		return invalid("Requested Provisioned Concurrency should not be greater than the reservedConcurrentExecution "+
			"for function: %d of %s are provisioned, and %d are reserved for all its versions", sum, f.Name,
			*f.Reserved)
	}
	return nil
}

// alter calls do with a copy of a function.
func (r *Registry) alter(name string, do func(*Function) error) (*Function, error) {
	r.change.Lock()
	defer r.change.Unlock()
	f, err := r.Get(name)
	if err != nil {
		return nil, err
	}
	if f, err = copyOf(f); err != nil {
		return nil, err
	}
	if err := do(f); err != nil {
		return nil, err
	}
	return f, nil
}

// Publish makes a version of what $LATEST is now. When that is what the newest version is, it is that one. checksum and
// revision, if not "", are what the caller has seen. A new version gives $LATEST another revision, too.
func (r *Registry) Publish(ctx context.Context, name, description, checksum, revision string) (Version, error) {
	var v Version
	_, err := r.alter(name, func(f *Function) error {
		switch {
		case revision != "" && revision != f.Latest.Revision:
			return Stale()
		case checksum != "" && checksum != f.Latest.Checksum():
			return invalid("CodeSHA256 (%s) is different from current CodeSHA256 in $LATEST (%s). Please try again "+
				"with the CodeSHA256 in $LATEST.", shortened(checksum), f.Latest.Checksum())
		case len(f.versions) >= maxVersions:
			return invalid("function %s has %d versions, the most there can be: delete some", name, len(f.versions))
		}
		last, ok := f.versions[number(f.Next)]
		if ok && last.From == f.Latest.Revision { // a description alone makes no version
			v = last
			return nil
		}
		v = f.Latest
		if ok && last.SHA256 == v.SHA256 && last.Folder == v.Folder && sameSettings(last.Settings, v.Settings) {
			v = last
			return nil
		}
		if description != "" {
			v.Settings.Description = description
		}
		f.Next++
		f.Latest.Revision = uuid.NewString()
		v.From = f.Latest.Revision
		v.Number, v.Changed, v.Revision = number(f.Next), time.Now(), uuid.NewString()
		f.versions[v.Number] = v
		n, err := note(versionKey+name+"/"+v.Number, v)
		if err != nil {
			return err
		}
		return r.keep(ctx, f, n)
	})
	return v, err
}

func sameSettings(a, b Settings) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Delete removes a function, or one published version of it; a version that is not there is no error. Events of the
// function that wait are dropped with it.
func (r *Registry) Delete(ctx context.Context, name, version string) error {
	if version == function.Latest {
		return invalid("$LATEST version cannot be deleted without deleting the function.")
	}
	r.change.Lock()
	defer r.change.Unlock()
	f, err := r.Get(name)
	if err != nil {
		return err
	}
	switch {
	case version != "" && !digits(version):
		return invalid("Deletion of aliases is not currently supported.")
	case version != "":
		return r.deleteVersion(ctx, f, version)
	}
	gone := []queue.Note{{Room: room, Key: functionKey + name}}
	for n := range f.versions {
		gone = append(gone, queue.Note{Room: room, Key: versionKey + name + "/" + n})
	}
	if err := r.setNotes(ctx, gone...); err != nil {
		return fmt.Errorf("delete function %s: %w", name, err)
	}
	r.mu.Lock()
	delete(r.all, name)
	run := r.runners[name]
	delete(r.runners, name)
	r.mu.Unlock()
	if run != nil {
		run.end()
	}
	r.withdraw(name, f.Latest.Number)
	r.drop(f.Latest.archivesOf()...)
	for n, v := range f.versions {
		r.withdraw(name, n)
		r.drop(v.archivesOf()...)
	}
	err = r.store.DeleteQueue(context.WithoutCancel(ctx), eventQueue(name)) // else the next of that name has its events
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return fmt.Errorf("delete the events of function %s: %w", name, err)
	}
	return nil
}

func (r *Registry) deleteVersion(ctx context.Context, f *Function, version string) error {
	if _, ok := f.versions[version]; !ok {
		return nil // as with the service, to which it is gone already
	}
	for _, a := range f.Aliases {
		if _, shares := a.Others[version]; a.Version == version || shares {
			return &wrong{ErrExists, fmt.Sprintf("version %s of %s is what the alias %s names: change the alias first",
				version, f.Name, a.Name)}
		}
	}
	f, err := copyOf(f)
	if err != nil {
		return err
	}
	unused := f.versions[version].archivesOf()
	delete(f.versions, version)
	f.forget(version)
	if err := r.keep(ctx, f, queue.Note{Room: room, Key: versionKey + f.Name + "/" + version}); err != nil {
		return err
	}
	r.withdraw(f.Name, version)
	r.drop(unused...)
	return nil
}
