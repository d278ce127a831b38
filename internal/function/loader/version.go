package loader

import (
	"path/filepath"
	"strings"
)

// Wanted is the version that a runtime's name asks for, as far as it does: 3.12 of python3.12, 20 of nodejs20.x, 17 of
// java17, 8 of java8.al2; "": any.
func Wanted(runtime string) string {
	name := strings.ToLower(runtime)
	family := Family(name)
	version := strings.TrimPrefix(name, family)
	switch family {
	case "python":
		if !strings.Contains(version, ".") { // python3 is the family
			return ""
		}
		return version
	case "nodejs", "java":
		version, _, _ = strings.Cut(version, ".")
		return version
	}
	return ""
}

// Version is the version of an interpreter, in the form of Wanted; "": it does not tell.
func Version(runtime, interpreter, dir string) string {
	switch Family(runtime) {
	case "python":
		if named, ok := strings.CutPrefix(filepath.Base(interpreter), "python"); ok && strings.Contains(named, ".") {
			return named
		}
		said, err := ask(interpreter, dir, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
		if err != nil {
			return ""
		}
		return strings.TrimSpace(said)
	case "nodejs":
		said, err := ask(interpreter, dir, "-p", "process.versions.node")
		if err != nil {
			return ""
		}
		version, _, _ := strings.Cut(strings.TrimSpace(said), ".")
		return version
	case "java":
		said, err := ask(interpreter, dir, "-XshowSettings:properties", "-version")
		if err != nil {
			return ""
		}
		for line := range strings.Lines(said) {
			if name, version, ok := strings.Cut(line, "="); ok &&
				strings.TrimSpace(name) == "java.specification.version" {
				return strings.TrimPrefix(strings.TrimSpace(version), "1.")
			}
		}
	}
	return ""
}
