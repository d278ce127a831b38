package machine

import (
	"slices"
	"strings"
	"testing"
)

func TestThisProcessesGroupsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, groups string
		mounts       []string
		want         map[string]string
	}{
		{"version 2 alone", "0::/user.slice/a.scope\n", []string{"31 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - " +
			"cgroup2 cgroup2 rw,nsdelegate"},
			map[string]string{"unified": "/sys/fs/cgroup/user.slice/a.scope"}},
		{"a container's namespace", "0::/\n", []string{"31 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup rw"},
			map[string]string{"unified": "/sys/fs/cgroup"}},
		{"read only", "0::/\n", []string{"31 23 0:27 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw"},
			map[string]string{}},
		{"version 1", "5:cpu,cpuacct:/x\n4:memory:/y/z\n1:name=systemd:/\n", []string{
			"33 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
			"34 32 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
			"35 32 0:32 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd"},
			map[string]string{"cpu": "/sys/fs/cgroup/cpu,cpuacct/x", "memory": "/sys/fs/cgroup/memory/y/z"}},
		{"a mount of a part", "4:memory:/docker/abc/in\n", []string{"34 32 0:31 /docker/abc /sys/fs/cgroup/memory rw " +
			"- cgroup cgroup rw,memory"},
			map[string]string{"memory": "/sys/fs/cgroup/memory/in"}},
		{"a mount of another part", "4:memory:/docker/abc\n", []string{"34 32 0:31 /docker/abcd " +
			"/sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"}, map[string]string{}},
		{"outside of the namespace", "0::/../other\n", []string{"31 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup rw"},
			map[string]string{}},
		{"nonsense", "x\n::\n", []string{"", " - ", "a b c - cgroup2 x y"}, map[string]string{}},
	} {
		got := locate(c.groups, c.mounts, true)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for k, v := range c.want {
			if got[k] != v {
				t.Errorf("%s: %s is %q, want %q", c.name, k, got[k], v)
			}
		}
	}
}

// FuzzLocate checks that no text of the kernel's, nor any other, is too much.
func FuzzLocate(f *testing.F) {
	f.Add("5:cpu,cpuacct:/x\n0::/y\n", "33 32 0:30 / /c rw - cgroup cgroup rw,cpu\n31 23 0:27 / /d rw - cgroup2 "+
		"cgroup rw")
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		for name, dir := range locate(groups, strings.Split(mounts, "\n"), true) {
			if strings.Contains(groups+mounts, "..") {
				continue
			}
			if !slices.Contains([]string{"unified", "memory", "cpu", "pids"}, name) || dir == "" {
				t.Errorf("%s: %q", name, dir)
			}
		}
	})
}
