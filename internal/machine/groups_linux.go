package machine

import (
	"os"
	"path/filepath"
	"strings"
)

// Groups finds the folders of this process's control groups: by controller ("memory", "cpu", "pids") those of version
// 1, and that of version 2 as "unified". writable leaves out hierarchies that are mounted to be read only. There are
// none where /proc cannot be read.
func Groups(writable bool) map[string]string {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return locate(string(groups), strings.Split(string(mounts), "\n"), writable)
}

// locate finds the groups from the texts of /proc/self/cgroup and /proc/self/mountinfo.
func locate(groups string, mounts []string, writable bool) map[string]string {
	paths := map[string]string{} // controller, or unified → path in its hierarchy
	for _, line := range strings.Split(groups, "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			paths["unified"] = parts[2]
		}
		for _, c := range strings.Split(parts[1], ",") {
			if c == "memory" || c == "cpu" || c == "pids" {
				paths[c] = parts[2]
			}
		}
	}
	found := map[string]string{}
	for _, line := range mounts {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(kind) < 3 {
			continue
		}
		if options, _, _ := strings.Cut(fields[5], ","); writable && options == "ro" {
			continue
		}
		root, point := fields[3], fields[4]
		switch kind[0] {
		case "cgroup2":
			add(found, "unified", paths, root, point)
		case "cgroup":
			for _, option := range strings.Split(kind[2], ",") {
				if option == "memory" || option == "cpu" || option == "pids" {
					add(found, option, paths, root, point)
				}
			}
		}
	}
	return found
}

// add notes the folder of a hierarchy, if the part that is mounted has this process's group in it.
func add(found map[string]string, name string, paths map[string]string, root, point string) {
	path, ok := paths[name]
	if !ok || found[name] != "" {
		return
	}
	if root != "/" {
		rest, below := strings.CutPrefix(path, root)
		if !below || rest != "" && rest[0] != '/' {
			return
		}
		path = rest
	}
	if strings.HasPrefix(path, "/..") {
		return // outside of what this namespace shows
	}
	found[name] = filepath.Join(point, path)
}
