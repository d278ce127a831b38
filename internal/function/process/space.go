package process

import (
	"path/filepath"
	"strings"
)

// View is what the programs of an instance see in a way of their own of the machine's files.
type View struct {
	// Temp is a folder that becomes a file system of TempBytes, in memory, which ends with the programs. It is their /tmp, too, unless one of Keep
	// lies there.
	Temp      string
	TempBytes int64
	// Opt are folders whose files are seen as /opt, those of the first one before those of the others, and the machine's own behind them.
	Opt []string
	// Keep are files and folders of the machine that the programs have to see.
	Keep []string
	// Together wants the same view for several programs.
	Together bool
}

// Seen is what of a View came true.
type Seen struct {
	Temp bool // Temp is bounded
	Tmp  bool // and is /tmp
	Opt  bool
}

// within tells whether a path is a folder or below it.
func within(path, folder string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), folder)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// keeps tells whether something below a folder has to be seen.
func (v *View) keeps(folder string) bool {
	for _, k := range v.Keep {
		if within(k, folder) {
			return true
		}
		if real, err := filepath.EvalSymlinks(k); err == nil && within(real, folder) {
			return true
		}
	}
	return false
}

// tmp tells whether Temp can be /tmp as well.
func (v *View) tmp() bool { return !within(v.Temp, "/tmp") && !v.keeps("/tmp") }

// escaped is a list of folders as the option lowerdir takes it.
func escaped(folders []string) string {
	r := strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`)
	var all []string
	for _, f := range folders {
		all = append(all, r.Replace(f))
	}
	return strings.Join(all, ":")
}
