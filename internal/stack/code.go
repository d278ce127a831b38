package stack

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// code is an archive, or where one lies in S3.
type code struct {
	archive []byte
	object  map[string]any // S3Bucket, S3Key, S3ObjectVersion
	sum     string
}

// content is the code as the Lambda door takes it.
func (c *code) content() map[string]any {
	if c.object != nil {
		return c.object
	}
	return map[string]any{"ZipFile": c.archive}
}

var codeShape = fields{"ZipFile": text, "S3Bucket": text, "S3Key": text, "S3ObjectVersion": text}

// codeOf finds the code of a function or a layer. file is what inline code is called in its archive; "" takes none.
func (x *run) codeOf(v any, file string) (*code, error) {
	if path, ok := v.(string); ok { // as templates have it before `aws cloudformation package`
		return x.packed(filepath.Join(x.c.Folder, filepath.FromSlash(path)))
	}
	fitted, err := fit("Code", v, codeShape)
	if err != nil {
		return nil, err
	}
	m := fitted.(map[string]any)
	if inline, ok := m["ZipFile"].(string); ok {
		if file == "" {
			return nil, errors.New("there can be no code in the template itself: only Node.js and Python have files " +
				"of one text")
		}
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: file, Method: zip.Deflate}
		h.SetMode(0o644)
		to, err := w.CreateHeader(h)
		if err == nil {
			_, err = to.Write([]byte(inline))
		}
		if err := errors.Join(err, w.Close()); err != nil {
			return nil, err
		}
		return archived(b.Bytes()), nil
	}
	key, _ := m["S3Key"].(string)
	if key == "" {
		return nil, errors.New("the code is neither ZipFile nor S3Key")
	}
	path, err := x.asset(key)
	if err != nil {
		return nil, err
	}
	if path != "" {
		return x.packed(path)
	}
	bucket, _ := m["S3Bucket"].(string)
	if bucket == "" || x.buckets[bucket] {
		return nil, fmt.Errorf("the code %s is not in %s: --assets names the folder in which it is", key, x.c.Assets)
	}
	b, err := json.Marshal(m)
	return &code{object: m, sum: string(b)}, err
}

func archived(b []byte) *code {
	sum := sha256.Sum256(b)
	return &code{archive: b, sum: hex.EncodeToString(sum[:])}
}

// packed packs a file or a folder, once.
func (x *run) packed(path string) (*code, error) {
	if c, ok := x.archives[path]; ok {
		return c, nil
	}
	b, err := x.c.Pack(path)
	if err != nil {
		return nil, err
	}
	x.archives[path] = archived(b)
	return x.archives[path], nil
}

// asset is where the archive or the folder lies that would be uploaded to S3 under a key; "": nowhere here. CDK's
// manifests of assets say it; what Serverless packs has the end of the key as its name.
func (x *run) asset(key string) (string, error) {
	if x.assets == nil {
		x.assets = map[string]string{}
		manifests, err := filepath.Glob(filepath.Join(x.c.Assets, "*.assets.json"))
		if err != nil {
			return "", err
		}
		for _, manifest := range manifests {
			if err := x.readManifest(manifest); err != nil {
				return "", fmt.Errorf("%s: %w", manifest, err)
			}
		}
	}
	if path, ok := x.assets[key]; ok {
		return path, nil
	}
	for _, name := range []string{filepath.FromSlash(key), filepath.Base(filepath.FromSlash(key))} {
		if !filepath.IsLocal(name) || name == "." {
			continue
		}
		path := filepath.Join(x.c.Assets, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", nil
}

// maxManifest is more than any manifest of CDK's has.
const maxManifest = 16 << 20

func (x *run) readManifest(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxManifest {
		return fmt.Errorf("it has more than %d bytes", maxManifest)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var manifest struct {
		Files map[string]struct {
			Source       struct{ Path string }
			Destinations map[string]struct{ ObjectKey string }
		}
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		return err
	}
	for _, f := range manifest.Files {
		source := filepath.FromSlash(f.Source.Path)
		if source == "" {
			continue // made by a command
		}
		if !filepath.IsAbs(source) {
			source = filepath.Join(filepath.Dir(path), source)
		}
		for _, d := range f.Destinations {
			x.assets[d.ObjectKey] = source
		}
	}
	return nil
}

// inlineFile is what the service calls code that stands in a template.
func inlineFile(runtime string) string {
	switch {
	case strings.HasPrefix(runtime, "nodejs"):
		return "index.js"
	case strings.HasPrefix(runtime, "python"):
		return "index.py"
	}
	return ""
}
