package machine

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// tree makes folders with files, and returns where they begin.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestTheLeastLimitAboveAGroupHolds(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
		by    string
	}{
		{"version 2", map[string]string{"a/b/memory.max": "300\n", "a/memory.max": "max\n"}, 300, "a/b"},
		{"a group around it", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "200\n"}, 200, "a"},
		{"throttled before", map[string]string{"a/b/memory.max": "300\n", "a/b/memory.high": "250\n"}, 250, "a/b"},
		{"version 1", map[string]string{"a/b/memory.limit_in_bytes": "9223372036854771712\n",
			"a/memory.limit_in_bytes": "100\n"}, 100, "a"},
		{"version 1, not to be seen",
			map[string]string{"a/b/memory.limit_in_bytes": "500\n",
				"a/b/memory.stat": "cache 1\nhierarchical_memory_limit 400\n"}, 400, "a/b"},
		{"none", map[string]string{"a/b/memory.max": "max\n"}, 0, ""},
		{"nonsense", map[string]string{"a/b/memory.max": "-1", "a/b/memory.limit_in_bytes": "",
			"a/b/memory.stat": "hierarchical_memory_limit"}, 0, ""},
	} {
		top := tree(t, c.files)
		got := limitOf(filepath.Join(top, "a/b"))
		by := ""
		if got.Bytes != 0 {
			by, _ = filepath.Rel(top, got.By)
		}
		if got.Bytes != c.want || by != c.by {
			t.Errorf("%s: %d by %q, want %d by %q", c.name, got.Bytes, by, c.want, c.by)
		}
	}
}

func TestTheMachinesMemoryIsKnown(t *testing.T) {
	if got := physical(filepath.Join(tree(t,
		map[string]string{"meminfo": "MemTotal:       24682496 kB\nMemFree: 1 kB\n"}),
		"meminfo")); got.Bytes != 24682496<<10 {
		t.Errorf("%+v", got)
	}
	if got := Memory(); got.Bytes < 1<<20 || got.By == "" {
		t.Errorf("of this machine: %+v", got)
	}
}

func TestTheCollectorKeepsBelowTheMemoryUnlessToldOtherwise(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "")
	if limit, by := Limit(Available{1 << 40, "here"}); limit != (1<<40)/100*85 || by != "here" ||
		debug.SetMemoryLimit(-1) != limit {
		t.Errorf("%d by %s", limit, by)
	}
	for memory, want := range map[int64]int64{300 << 20: 228 << 20, 100 << 20: 50 << 20} {
		if limit, _ := Limit(Available{memory, "here"}); limit != want {
			t.Errorf("of %d bytes it is %d", memory, limit)
		}
	}
	if limit, by := Limit(Available{}); limit != 0 || by != "" {
		t.Errorf("%d by %s", limit, by)
	}
	t.Setenv("GOMEMLIMIT", "off")
	debug.SetMemoryLimit(1 << 41) // as the runtime would have read it
	if limit, by := Limit(Available{1 << 40, "here"}); limit != 1<<41 || by != "GOMEMLIMIT" ||
		debug.SetMemoryLimit(-1) != 1<<41 {
		t.Errorf("%d by %s", limit, by)
	}
}
