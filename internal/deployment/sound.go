package deployment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Archives are kept under their checksums. What lies there was durable before anything named it, so one that is gone or
// has another checksum was changed from outside, or the disk has damaged it. Such code never runs: each archive is
// looked at before the pool gets it, and all of them beside the work after a start, so that a person is told in time.

// CodeError says that an archive that a version needs is not the one that was deployed.
type CodeError struct {
	File  string // the archive
	Layer string // whose content it is, by its ARN; "": it is the version's code
	What  string // what is wrong with the file
}

func (e *CodeError) Error() string {
	if e.Layer != "" {
		return fmt.Sprintf("the layer %s is not what was published: %s %s; it is not used: publish a layer, of "+
			"whatever name, with the same content again", e.Layer, e.File, e.What)
	}
	return fmt.Sprintf("its code is not what was deployed: %s %s; it does not run: deploy the same code again, or "+
		"other code in its place", e.File, e.What)
}

// sound says what is wrong with the archives of a version; nil: they are what was deployed.
func (r *Registry) sound(ctx context.Context, v Version) error {
	look := func(sum, layer string) error {
		if sum == "" {
			return nil
		}
		what, err := checksumOf(ctx, r.archive(sum), sum)
		switch {
		case err != nil:
			return err
		case what != "":
			r.mark(sum, what)
			return &CodeError{File: r.archive(sum), Layer: layer, What: what}
		}
		return nil
	}
	if err := look(v.SHA256, ""); err != nil {
		return err
	}
	for _, arn := range v.Settings.Layers {
		if err := look(v.Settings.Attached[arn].SHA256, arn); err != nil {
			return err
		}
	}
	return nil
}

// mark remembers what is wrong with an archive; "": nothing any more.
func (r *Registry) mark(sum, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if what == "" {
		delete(r.altered, sum)
		return
	}
	r.altered[sum] = what
}

// Unsound tells what is known to be wrong with the archives of a version, for people; "": nothing.
func (r *Registry) Unsound(v Version) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if what := r.altered[v.SHA256]; what != "" {
		return (&CodeError{File: r.archive(v.SHA256), What: what}).Error()
	}
	for _, arn := range v.Settings.Layers {
		sum := v.Settings.Attached[arn].SHA256
		if what := r.altered[sum]; what != "" {
			return (&CodeError{File: r.archive(sum), Layer: arn, What: what}).Error()
		}
	}
	return ""
}

// checksumOf tells what is wrong with an archive; "": it has that checksum. The error is of a disk that cannot be read,
// or the context's.
func checksumOf(ctx context.Context, path, sum string) (what string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "is gone", nil
	}
	if err != nil {
		return "", fmt.Errorf("look at kept code: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &interrupted{ctx, f}); err != nil {
		return "", fmt.Errorf("look at kept code: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return "has the checksum (SHA-256) " + got + ", not that in its name", nil
	}
	return "", nil
}

// interrupted reads until a context ends.
type interrupted struct {
	ctx  context.Context
	from io.Reader
}

func (r *interrupted) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// checkArchives looks at every archive that a function or layer needs, one after the other, and reports those that are
// not what they were. It is told once for each, with the first that needs it.
func (r *Registry) checkArchives() {
	for sum, n := range r.needed() {
		what, err := checksumOf(r.stopping, r.archive(sum), sum)
		if err == nil && what != "" && r.config.Shared != nil {
			_ = r.config.Shared.fetch(r.stopping, sum) // whether it has come is seen next
		}
		if err == nil && what != "" {
			what, err = r.lookAgain(sum)
		}
		if r.stopping.Err() != nil {
			return
		}
		if err == nil && what != "" {
			err = &CodeError{File: r.archive(sum), Layer: n.layer, What: what}
		}
		if err != nil && n.also > 0 {
			r.config.Report(fmt.Errorf("%s, and %d more: %w", n.who, n.also, err))
		} else if err != nil {
			r.config.Report(fmt.Errorf("%s: %w", n.who, err))
		}
	}
}

// lookAgain is for an archive that was found to be altered: it may have been placed anew meanwhile, or dropped.
func (r *Registry) lookAgain(sum string) (what string, err error) {
	r.placing.Lock()
	defer r.placing.Unlock()
	if !r.used()[sum] {
		return "", nil
	}
	if what, err = checksumOf(r.stopping, r.archive(sum), sum); err == nil {
		r.mark(sum, what)
	}
	return what, err
}

// need is who needs an archive, for people.
type need struct {
	who   string
	layer string // it is the content of this one, by its ARN
	also  int    // how many others need it
}

// needed are the archives that there have to be, by their checksums.
func (r *Registry) needed() map[string]need {
	r.mu.RLock()
	defer r.mu.RUnlock()
	needed := map[string]need{}
	add := func(sum, who, layer string) {
		n, ok := needed[sum]
		switch {
		case sum == "": // a folder
		case ok:
			n.also++
			needed[sum] = n
		default:
			needed[sum] = need{who: who, layer: layer}
		}
	}
	for name, f := range r.all {
		for _, v := range append(f.Published(), f.Latest) {
			who := "function " + name + ", version " + v.Number
			add(v.SHA256, who, "")
			for arn, a := range v.Settings.Attached {
				add(a.SHA256, who, arn)
			}
		}
	}
	for name, l := range r.layers {
		for _, v := range l.versions {
			add(v.SHA256, fmt.Sprintf("layer %s, version %d", name, v.Number), r.LayerARN(name, v.Number))
		}
	}
	return needed
}

// CheckArchives looks at the archives in a Registry's folder, which may be in use. It tells each that is not what its
// name says to bad, and how many there are. Whether one is missing only the store knows.
func CheckArchives(ctx context.Context, dir string, bad func(file, what string)) (n int, err error) {
	code := filepath.Join(dir, "code")
	entries, err := os.ReadDir(code)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at kept code: %w", err)
	}
	for _, e := range entries {
		sum, ok := strings.CutSuffix(e.Name(), ".zip")
		if !ok || len(sum) != 2*sha256.Size {
			continue
		}
		path := filepath.Join(code, e.Name())
		what, err := checksumOf(ctx, path, sum)
		if err != nil {
			return n, err
		}
		if _, err := os.Stat(path); what != "" && errors.Is(err, fs.ErrNotExist) {
			continue // a server has dropped it meanwhile
		}
		if n++; what != "" {
			bad(path, what)
		}
	}
	return n, nil
}
