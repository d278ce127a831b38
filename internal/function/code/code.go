// Package code puts a function's code where it can run: a folder stays where it is, an archive (zip or jar) is
// unpacked, with nothing in it that could lead out of its folder and within limits of size.
//
//	placed, err := code.Place(dir, code.Source{File: "function.zip"}, code.Limits{})
//	// placed.Dir is what a function finds as LAMBDA_TASK_ROOT
package code

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Source is where code comes from: one of the three.
type Source struct {
	Folder string // used as it is; what changes there is seen by the next instance
	File   string // a zip or a jar
	Zip    []byte // a zip, or a jar, itself
	Name   string // what errors call the archive; "": the file's path, or the uploaded archive
}

// UsualBytes is what may be unpacked unless Limits say otherwise: the provider's bound of code and layers together.
const UsualBytes = 250 << 20

// Limits bound what is unpacked; zero values are the provider's.
type Limits struct {
	Bytes int64 // of all files unpacked; 0: 250 MiB
	Files int   // and folders; 0: 100,000
}

// Placed is code that can run.
type Placed struct {
	Dir    string
	Size   int64  // of the archive, in bytes; 0 for a folder
	Bytes  int64  // of its files, unpacked; 0 for a folder
	SHA256 string // of the archive, in base64; "" for a folder
}

// ErrUnsafe is wrapped by errors about archives whose files would land outside of their folder, or that are no plain
// files.
var ErrUnsafe = errors.New("the archive is not safe to unpack")

// ErrTooLarge is wrapped by errors about archives beyond the limits.
var ErrTooLarge = errors.New("the code is too large")

// ErrNoCode is wrapped by errors about code that is not there or cannot be read as an archive.
var ErrNoCode = errors.New("there is no code")

// ErrDamaged is wrapped by errors about archives whose files cannot be read, or cannot be files beside each other.
var ErrDamaged = errors.New("the archive cannot be unpacked")

// Place puts code into the folder dir, which it makes and which must not be there yet, unless the source is a folder.
// After an error nothing of dir is left.
func Place(dir string, s Source, l Limits) (Placed, error) {
	if l.Bytes <= 0 {
		l.Bytes = UsualBytes
	}
	if l.Files <= 0 {
		l.Files = 100_000
	}
	switch {
	case s.Folder != "":
		return folder(s.Folder)
	case s.File != "":
		f, err := os.Open(s.File)
		if err != nil {
			return Placed{}, fmt.Errorf("%w: %w", ErrNoCode, err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return Placed{}, fmt.Errorf("%w: %w", ErrNoCode, err)
		}
		if info.IsDir() {
			return folder(s.File)
		}
		return archive(dir, cmp.Or(s.Name, s.File), f, info.Size(), l)
	case len(s.Zip) > 0:
		return archive(dir, cmp.Or(s.Name, "the uploaded archive"), bytes.NewReader(s.Zip), int64(len(s.Zip)), l)
	}
	return Placed{}, fmt.Errorf("%w: name a folder, a zip or a jar", ErrNoCode)
}

func folder(dir string) (Placed, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Placed{}, fmt.Errorf("%w: %w", ErrNoCode, err)
	}
	if info, err := os.Stat(abs); err != nil {
		return Placed{}, fmt.Errorf("%w: %w", ErrNoCode, err)
	} else if !info.IsDir() {
		return Placed{}, fmt.Errorf("%w: %s is no folder", ErrNoCode, abs)
	}
	return Placed{Dir: abs}, nil
}

type readerAt interface {
	io.Reader
	io.ReaderAt
}

// archive unpacks a zip.
func archive(dir, name string, r readerAt, size int64, l Limits) (p Placed, err error) {
	if size > l.Bytes {
		return Placed{}, fmt.Errorf("%w: %s has %d bytes, the limit is %d", ErrTooLarge, name, size, l.Bytes)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size)); err != nil {
		return Placed{}, fmt.Errorf("cannot read %s: %w", name, err)
	}
	z, err := Directory(r, size)
	if errors.Is(err, ErrTooLarge) {
		return Placed{}, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return Placed{}, fmt.Errorf("%w: %s is no zip or jar: %w", ErrNoCode, name, err)
	}
	if len(z.File) == 0 {
		return Placed{}, fmt.Errorf("%w: %s has no file in it", ErrNoCode, name)
	}
	if len(z.File) > l.Files {
		return Placed{}, fmt.Errorf("%w: %s has %d files, the limit is %d", ErrTooLarge, name, len(z.File), l.Files)
	}
	if n := made(z, l.Files); n > l.Files {
		return Placed{}, fmt.Errorf("%w: %s has more than %d files and folders", ErrTooLarge, name, l.Files)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return Placed{}, fmt.Errorf("cannot unpack %s: %w", name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Placed{}, fmt.Errorf("cannot unpack %s: %w", name, err)
	}
	defer func() {
		if e := root.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = os.RemoveAll(dir) // the first error says more
		}
	}()
	left := l.Bytes
	for _, f := range z.File {
		n, err := unpack(root, f, left)
		if errors.Is(err, errFull) {
			return Placed{}, fmt.Errorf("%w: %s has more than %d bytes when it is unpacked", ErrTooLarge, name, l.Bytes)
		}
		if err != nil {
			return Placed{}, fmt.Errorf("cannot unpack %q of %s: %w", f.Name, name, err)
		}
		left -= n
	}
	return Placed{Dir: dir, Size: size, Bytes: l.Bytes - left, SHA256: base64.StdEncoding.EncodeToString(sum.Sum(nil))},
		nil
}

// made is how many files and folders an archive makes, counted until there are more than most: a single name has room
// for two thousand folders.
func made(z *zip.Reader, most int) int {
	all := map[string]bool{}
	for _, f := range z.File {
		name, err := safe(f.Name)
		if err != nil {
			continue // unpacking says so
		}
		for ; name != "." && !all[name] && len(all) <= most; name = path.Dir(name) {
			all[name] = true
		}
	}
	return len(all)
}

var errFull = errors.New("no room is left")

// unpack writes one file of an archive below root and returns how many bytes it has.
func unpack(root *os.Root, f *zip.File, left int64) (int64, error) {
	name, err := safe(f.Name)
	if err != nil || name == "." {
		return 0, err
	}
	mode := f.Mode()
	switch {
	case mode.IsDir() || strings.HasSuffix(f.Name, "/"):
		return 0, damaged(root.MkdirAll(name, 0o755))
	case mode&os.ModeType != 0:
		return 0, fmt.Errorf(
			"%w: it is no plain file (%s); links and devices are not unpacked: put a copy in its place", ErrUnsafe,
			mode.Type())
	}
	if parent := path.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return 0, damaged(err)
		}
	}
	in, err := f.Open()
	if err != nil {
		return 0, fmt.Errorf("%w: %w; pack it anew, with deflate", ErrDamaged, err)
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644|mode.Perm()&0o111)
	if err != nil {
		return 0, damaged(err)
	}
	read := &reading{from: in}
	n, err := io.Copy(out, io.LimitReader(read, left+1))
	if e := out.Close(); err == nil {
		err = e
	}
	switch {
	case n > left:
		return n, errFull
	case read.err != nil:
		return n, fmt.Errorf("%w: %w; pack it anew", ErrDamaged, read.err)
	}
	return n, err
}

// reading remembers what went wrong with the archive, which is not what goes wrong with our disk.
type reading struct {
	from io.Reader
	err  error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// damaged tells an error about the names in an archive from one about our disk.
func damaged(err error) error {
	switch {
	case errors.Is(err, syscall.EEXIST), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%w: it has a file and a folder of one name: %w", ErrDamaged, err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%w: the name is too long for this machine", ErrDamaged)
	}
	return err
}

// safe is a name in an archive as a path below its folder.
func safe(name string) (string, error) {
	if strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || len(name) > 4096 {
		return "", fmt.Errorf("%w: this is no name of a file below its folder", ErrUnsafe)
	}
	clean := path.Clean(name)
	if clean == ".." || strings.HasPrefix(clean, "../") || !filepath.IsLocal(clean) {
		return "", fmt.Errorf("%w: this name leads out of its folder", ErrUnsafe)
	}
	return clean, nil
}
