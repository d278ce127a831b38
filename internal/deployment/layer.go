package deployment

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// What is kept of layers, and of each; names of layers that have no version any more count, because their numbers go
// on.
const (
	maxLayers        = 10_000
	maxLayerVersions = 1_000
)

// Layer is a name whose versions functions have as layers.
type Layer struct {
	Name string
	Next int // the number that the next version gets

	versions map[int]LayerVersion
}

// LayerVersion is an archive that functions find unpacked at /opt. But for its policy it never changes.
type LayerVersion struct {
	Number        int
	SHA256        string   // of the archive, in hexadecimal
	Size          int64    // of the archive, in bytes
	Description   string   `json:",omitempty"`
	License       string   `json:",omitempty"`
	Runtimes      []string `json:",omitempty"` // that it says to be for; nothing here compares them
	Architectures []string `json:",omitempty"`
	Created       time.Time

	Policy   []json.RawMessage `json:",omitempty"` // kept for who reads it again
	Revision string            `json:",omitempty"` // of the policy
}

// Checksum is that of the archive as clients see it, in base64.
func (v LayerVersion) Checksum() string { return Version{SHA256: v.SHA256}.Checksum() }

// Versions are all that were not deleted, the newest first.
func (l *Layer) Versions() []LayerVersion {
	all := make([]LayerVersion, 0, len(l.versions))
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(l.versions))) {
		all = append(all, l.versions[n])
	}
	return all
}

// LayerARN is that of a layer, or of its version of that number if it is not 0.
func (r *Registry) LayerARN(name string, number int) string {
	arn := "arn:aws:lambda:" + r.Region() + ":" + r.Account() + ":layer:" + name
	if number != 0 {
		arn += ":" + strconv.Itoa(number)
	}
	return arn
}

// Layers are all that have a version, by name.
func (r *Registry) Layers() []*Layer {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []*Layer
	for _, name := range slices.Sorted(maps.Keys(r.layers)) {
		if len(r.layers[name].versions) > 0 {
			all = append(all, r.layers[name])
		}
	}
	return all
}

// Layer is a layer as it is now. It must not be changed. Errors: ErrUnknown.
func (r *Registry) Layer(name string) (*Layer, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if l := r.layers[name]; l != nil {
		return l, nil
	}
	return nil, unknown("The resource you requested does not exist.")
}

// LayerVersion is a version of a layer. Errors: ErrUnknown.
func (r *Registry) LayerVersion(name string, number int) (LayerVersion, error) {
	l, err := r.Layer(name)
	if err == nil {
		if v, ok := l.versions[number]; ok {
			return v, nil
		}
	}
	return LayerVersion{}, unknown("The resource you requested does not exist.")
}

// LayerArchive is the file of a version's content.
func (r *Registry) LayerArchive(v LayerVersion) string { return r.archive(v.SHA256) }

// PublishLayer makes a version of a layer of an archive, with what v says besides. It is durable when PublishLayer
// returns. Errors: ErrInvalid and those of code.Place.
func (r *Registry) PublishLayer(ctx context.Context, name string, archive []byte, v LayerVersion) (LayerVersion,
	error) {
	if !isName(name, longestLayer) {
		return v, invalid("%q is no name of a layer: up to 140 letters, digits, - and _", shortened(name))
	}
	r.change.Lock()
	defer r.change.Unlock()
	if err := r.tryLayer(archive); err != nil {
		return v, fmt.Errorf("layer %s: %w", name, err)
	}
	r.mu.RLock()
	have, count := r.layers[name], len(r.layers)
	r.mu.RUnlock()
	l := &Layer{Name: name, Next: 1, versions: map[int]LayerVersion{}}
	switch {
	case have == nil && count >= maxLayers:
		return v, invalid("there are %d layers, the most there can be", count)
	case have != nil && len(have.versions) >= maxLayerVersions:
		return v, invalid("layer %s has %d versions, the most there can be: delete some", name, len(have.versions))
	case have != nil:
		l.Next, l.versions = have.Next, maps.Clone(have.versions)
	}
	var placed Version
	if err := r.place(Code{Zip: archive}, &placed); err != nil {
		return v, fmt.Errorf("layer %s: %w", name, err)
	}
	v.Number, v.SHA256, v.Size, v.Created = l.Next, placed.SHA256, placed.Size, time.Now()
	l.Next++
	l.versions[v.Number] = v
	err := r.spread(ctx, v.SHA256)
	if err == nil {
		err = r.keepLayer(ctx, l, v)
	}
	if err != nil {
		r.unkept(err, v.SHA256)
		return v, err
	}
	return v, nil
}

// tryLayer refuses an archive that no function could have as a layer. The caller holds r.change.
func (r *Registry) tryLayer(archive []byte) error {
	dir := filepath.Join(r.config.Dir, "trial")
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("look at an archive: %w", err)
	}
	if err := os.MkdirAll(r.config.Dir, 0o700); err != nil {
		return fmt.Errorf("look at an archive: %w", err)
	}
	_, err := code.Place(dir, code.Source{Zip: archive}, r.config.Pool.CodeLimits)
	if e := os.RemoveAll(dir); err == nil && e != nil {
		err = fmt.Errorf("look at an archive: %w", e)
	}
	return err
}

// keepLayer makes l what is known of its layer, durably, with one version of it. The caller holds r.change.
func (r *Registry) keepLayer(ctx context.Context, l *Layer, v LayerVersion) error {
	whole, err := note(layerKey+l.Name, l)
	if err != nil {
		return err
	}
	of := queue.Note{Room: room, Key: layerVersionKey + l.Name + "/" + strconv.Itoa(v.Number)}
	if _, ok := l.versions[v.Number]; ok {
		if of, err = note(of.Key, v); err != nil {
			return err
		}
	}
	if err := r.setNotes(ctx, whole, of); err != nil {
		return fmt.Errorf("keep layer %s: %w", l.Name, err)
	}
	r.mu.Lock()
	r.layers[l.Name] = l
	r.mu.Unlock()
	return nil
}

// ChangeLayerPolicy changes the policy of a version of a layer. Errors: ErrUnknown, ErrInvalid, and change's own.
func (r *Registry) ChangeLayerPolicy(ctx context.Context, name string, number int,
	change func(*LayerVersion) error) (LayerVersion, error) {
	r.change.Lock()
	defer r.change.Unlock()
	v, err := r.LayerVersion(name, number)
	if err != nil {
		return v, err
	}
	v.Policy = slices.Clone(v.Policy)
	if err := change(&v); err != nil {
		return v, err
	}
	v.Revision = uuid.NewString()
	have, err := r.Layer(name)
	if err != nil {
		return v, err
	}
	l := &Layer{Name: name, Next: have.Next, versions: maps.Clone(have.versions)}
	l.versions[number] = v
	return v, r.keepLayer(ctx, l, v)
}

// DeleteLayer deletes a version of a layer, if there is one. Functions that have it go on with it.
func (r *Registry) DeleteLayer(ctx context.Context, name string, number int) error {
	r.change.Lock()
	defer r.change.Unlock()
	v, err := r.LayerVersion(name, number)
	if err != nil {
		return nil // as the service has it
	}
	have, err := r.Layer(name)
	if err != nil {
		return err
	}
	l := &Layer{Name: name, Next: have.Next, versions: maps.Clone(have.versions)}
	delete(l.versions, number)
	if err := r.keepLayer(ctx, l, v); err != nil {
		return err
	}
	r.drop(v.SHA256)
	return nil
}

// Attached is the archive of a layer that a function has.
type Attached struct {
	SHA256 string
	Size   int64
}

// ParseLayerVersion reads the ARN of a version of a layer. Errors: ErrInvalid.
func ParseLayerVersion(arn string) (region, name string, number int, err error) {
	parts := strings.Split(arn, ":")
	if len(parts) != 8 || parts[0] != "arn" || parts[2] != "lambda" || parts[5] != "layer" ||
		!isName(parts[6], longestLayer) {
		return "", "", 0, invalid("%q is no ARN of a version of a layer: "+
			"arn:aws:lambda:REGION:ACCOUNT:layer:NAME:VERSION", shortened(arn))
	}
	if number, err = strconv.Atoi(parts[7]); err != nil || number < 1 {
		return "", "", 0, invalid("Layer Version Cannot be less than 1")
	}
	return parts[3], parts[6], number, nil
}

// attach finds the layers that settings name by ARNs. One that was attached before stays although its version was
// deleted meanwhile.
func (r *Registry) attach(s *Settings) error {
	before := s.Attached
	s.Attached = nil
	names := map[string]string{} // of layers: the ARN
	if len(s.Layers) > 5 {
		return invalid("Cannot reference more than 5 layers.")
	}
	for _, arn := range s.Layers {
		if !strings.HasPrefix(arn, "arn:") {
			continue
		}
		region, name, number, err := ParseLayerVersion(arn)
		switch {
		case err != nil:
			return err
		case region != r.Region():
			return invalid("Layers are not in the same region as the function. Layers are expected to be in region %s.",
				r.Region())
		case names[name] != "":
			return invalid("Two different versions of the same layer are not allowed to be referenced in the same "+
				"function. %s and %s are versions of the same layer.", names[name], arn)
		}
		names[name] = arn
		a, ok := before[arn]
		if v, err := r.LayerVersion(name, number); err == nil {
			a, ok = Attached{v.SHA256, v.Size}, true
		}
		if !ok {
			return invalid("Layer version %s does not exist.", arn)
		}
		if s.Attached == nil {
			s.Attached = map[string]Attached{}
		}
		s.Attached[arn] = a
	}
	return nil
}

// folders are layers as the pool takes them: folders and archives.
func (r *Registry) folders(s Settings) []string {
	all := slices.Clone(s.Layers)
	for i, l := range all {
		if a, ok := s.Attached[l]; ok {
			all[i] = r.archive(a.SHA256)
		}
	}
	return all
}

// archivesOf are the checksums of the archives that a version of a function needs.
func (v Version) archivesOf() []string {
	all := []string{v.SHA256}
	for _, a := range v.Settings.Attached {
		all = append(all, a.SHA256)
	}
	return all
}

// Seen tells whether functions see a file or a folder of this machine whatever is deployed: it lies in /usr or /opt, or
// in what the configuration's see names, and in nothing that is hidden. Functions that nothing isolates see all.
func (r *Registry) Seen(path string) bool {
	c := r.config.Pool
	if c.Isolation == function.None {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && lies(real, append([]string{"/usr", "/opt"}, c.See...)) &&
		!lies(real, append([]string{r.config.Dir}, c.Hide...))
}

// lies tells whether a path is one of the folders, or lies in one.
func lies(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		real, err := filepath.EvalSymlinks(f)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(real, path)
		return err == nil && filepath.IsLocal(rel)
	})
}
