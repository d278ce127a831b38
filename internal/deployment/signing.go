package deployment

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// maxSignings is how many code signing configurations are kept.
const maxSignings = 1_000

// Signing says whose signatures code should have. It is kept for who reads it again: nothing here looks at signatures.
type Signing struct {
	ID          string
	Description string            `json:",omitempty"`
	Publishers  []string          // ARNs of versions of signing profiles
	Untrusted   string            // what to do with other code: Warn or Enforce
	Tags        map[string]string `json:",omitempty"`
	Changed     time.Time
}

// SigningARN is that of a code signing configuration.
func (r *Registry) SigningARN(id string) string {
	return "arn:aws:lambda:" + r.Region() + ":" + r.Account() + ":code-signing-config:" + id
}

// Signings are all code signing configurations, by their ids.
func (r *Registry) Signings() []Signing {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]Signing, 0, len(r.signings))
	for _, id := range slices.Sorted(maps.Keys(r.signings)) {
		all = append(all, r.signings[id])
	}
	return all
}

// Signing is the code signing configuration with an ARN. Errors: ErrUnknown.
func (r *Registry) Signing(arn string) (Signing, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s, ok := r.signings[arn[strings.LastIndexByte(arn, ':')+1:]]
	if !ok || r.SigningARN(s.ID) != arn {
		return Signing{}, unknown("The Lambda code signing configuration %s can not be found.", arn)
	}
	return s, nil
}

// MakeSigning keeps a new code signing configuration, and gives it its id. Errors: ErrInvalid and the store's.
func (r *Registry) MakeSigning(ctx context.Context, s Signing) (Signing, error) {
	r.change.Lock()
	defer r.change.Unlock()
	if n := len(r.Signings()); n >= maxSignings {
		return s, invalid("there are %d code signing configurations, the most there can be", n)
	}
	s.ID = "csc-" + strings.ToLower(rand.Text()[:17])
	return s, r.keepSigning(ctx, &s)
}

// ChangeSigning changes a code signing configuration. Errors: ErrUnknown, the store's, and change's own.
func (r *Registry) ChangeSigning(ctx context.Context, arn string, change func(*Signing) error) (Signing, error) {
	r.change.Lock()
	defer r.change.Unlock()
	s, err := r.Signing(arn)
	if err != nil {
		return s, err
	}
	if s.Tags = maps.Clone(s.Tags); s.Tags == nil {
		s.Tags = map[string]string{}
	}
	if err := change(&s); err != nil {
		return s, err
	}
	return s, r.keepSigning(ctx, &s)
}

// keepSigning makes s what is known of it, durably. The caller holds r.change.
func (r *Registry) keepSigning(ctx context.Context, s *Signing) error {
	s.Changed = time.Now()
	n, err := note(signingKey+s.ID, s)
	if err != nil {
		return err
	}
	if err := r.setNotes(ctx, n); err != nil {
		return fmt.Errorf("keep code signing configuration %s: %w", s.ID, err)
	}
	r.mu.Lock()
	r.signings[s.ID] = *s
	r.mu.Unlock()
	return nil
}

// SignedBy are the functions that have a code signing configuration, by name.
func (r *Registry) SignedBy(id string) []*Function {
	return slices.DeleteFunc(r.List(), func(f *Function) bool { return f.Signing != id })
}

// DeleteSigning forgets a code signing configuration that no function has. Errors: ErrUnknown, ErrExists.
func (r *Registry) DeleteSigning(ctx context.Context, arn string) error {
	r.change.Lock()
	defer r.change.Unlock()
	s, err := r.Signing(arn)
	if err != nil {
		return err
	}
	if by := r.SignedBy(s.ID); len(by) > 0 {
		return &wrong{ErrExists, fmt.Sprintf("%d functions have the code signing configuration %s, one of them is %s: "+
			"take it from them first", len(by), arn, by[0].Name)}
	}
	if err := r.setNotes(ctx, queue.Note{Room: room, Key: signingKey + s.ID}); err != nil {
		return fmt.Errorf("forget code signing configuration %s: %w", s.ID, err)
	}
	r.mu.Lock()
	delete(r.signings, s.ID)
	r.mu.Unlock()
	return nil
}

// SetSigning gives a function a code signing configuration; "" takes it away. Errors: ErrUnknown, the store's.
func (r *Registry) SetSigning(ctx context.Context, name, arn string) error {
	_, err := r.alter(name, func(f *Function) error {
		if err := r.sign(f, arn); err != nil {
			return err
		}
		return r.keep(ctx, f)
	})
	return err
}

// sign says which code signing configuration a function has; "" for none. The caller holds r.change, so that it is not
// deleted meanwhile.
func (r *Registry) sign(f *Function, arn string) error {
	f.Signing = ""
	if arn == "" {
		return nil
	}
	s, err := r.Signing(arn)
	if err != nil {
		return err
	}
	f.Signing = s.ID
	return nil
}
