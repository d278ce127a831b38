package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// classes compiles the sources in Java, unless that was done before, and returns the folder of what came of them.
func (b *Built) classes() (string, error) {
	jars, err := filepath.Glob(filepath.Join(b.Cache, "java", "*.jar"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, jar := range jars {
		fmt.Fprintln(sum, filepath.Base(jar)) // its name tells its version
	}
	for _, source := range b.Java {
		text, err := os.ReadFile(source)
		if err != nil {
			return "", fmt.Errorf("compile %s: %w", source, err)
		}
		fmt.Fprintln(sum, source, len(text))
		sum.Write(text)
	}
	done := filepath.Join(b.Cache, "compiled", hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(done); err == nil {
		return done, nil
	}
	if err := os.RemoveAll(filepath.Dir(done)); err != nil { // what was compiled of others
		return "", err
	}
	half := done + ".half"
	args := append([]string{"-encoding", "UTF-8", "-cp", filepath.Join(b.Cache, "java", "*"), "-d", half}, b.Java...)
	if out, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("javac %q: %w\n%s\nTo install what the clients need: scripts/need-clients",
			args, err, out), os.RemoveAll(half))
	}
	if err := os.Rename(half, done); err != nil {
		return "", err
	}
	return done, nil
}
