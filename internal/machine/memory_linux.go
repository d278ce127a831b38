package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is how much memory this process may have in all: the least of what its control groups, those around them, and
// the machine have.
func Memory() Available {
	least := physical("/proc/meminfo")
	groups := Groups(false)
	for _, name := range []string{"unified", "memory"} {
		if dir := groups[name]; dir != "" {
			least = lesser(least, limitOf(dir))
		}
	}
	return least
}

// The files of a group that bound its memory: of version 2 the point beyond which it is throttled, too, for nobody
// lives there.
var limitFiles = []string{"memory.max", "memory.high", "memory.limit_in_bytes"}

// limitOf is the least limit of a group and of all above it. A group without one has a large number, or a word, in the
// file.
func limitOf(dir string) Available {
	least := hierarchical(dir)
	for {
		for _, name := range limitFiles {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if n, ok := bytesOf(string(text)); err == nil && ok {
				least = lesser(least, Available{n, dir})
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return least
		}
		dir = parent
	}
}

// hierarchical is what version 1 says of the groups above, which a container may not see.
func hierarchical(dir string) Available {
	text, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
	if err != nil {
		return Available{}
	}
	n, _ := after(string(text), "hierarchical_memory_limit ")
	return Available{n, dir}
}

// physical is the machine's memory.
func physical(file string) Available {
	text, err := os.ReadFile(file)
	if err != nil {
		return Available{}
	}
	if n, ok := after(string(text), "MemTotal:"); ok && n < 1<<53 {
		return Available{n << 10, "machine"}
	}
	return Available{}
}

// after reads the number behind a word that begins a line.
func after(text, word string) (int64, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return bytesOf(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, false
}

// bytesOf reads a number above 0.
func bytesOf(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n > 0
}

// lesser is the smaller of two that are known.
func lesser(a, b Available) Available {
	if a.Bytes == 0 || b.Bytes != 0 && b.Bytes < a.Bytes {
		return b
	}
	return a
}
