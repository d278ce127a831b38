package limit

import (
	"os"
	"path/filepath"
	"strings"
)

// locate finds this process's groups from the texts of /proc/self/cgroup and /proc/self/mountinfo.
func locate(groups string, mounts []string) map[string]string {
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
		if !ok || len(fields) < 6 || len(kind) < 3 || strings.HasPrefix(fields[5], "ro,") || fields[5] == "ro" {
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

func words(file string) map[string]bool {
	all := map[string]bool{}
	text, _ := os.ReadFile(file) // a file that is not there has no words
	for _, w := range strings.Fields(string(text)) {
		all[w] = true
	}
	return all
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
