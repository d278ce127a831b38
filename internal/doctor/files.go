package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// Secret judges a file that has secrets in it: others shall not read it. A group may be meant to.
func Secret(name, what string) (Finding, bool) {
	info, err := os.Stat(name)
	if err != nil {
		return Finding{"files", Bad, fmt.Sprintf("%s: %v", what, err), "hikyaku does not start, or does not follow it",
			"name a file that this account may read"}, true
	}
	if runtime.GOOS == "windows" { // its modes say nothing
		return Finding{}, false
	}
	shown := fmt.Sprintf("%s, %s, has mode %04o", what, name, info.Mode().Perm())
	switch {
	case info.Mode().Perm()&0o002 != 0:
		return Finding{"files", Bad, shown, "every account of this machine can change it", "chmod o= " + name}, true
	case info.Mode().Perm()&0o004 != 0:
		return Finding{"files", Bad, shown, "every account of this machine can read the secrets in it", "chmod o= " +
				name},
			true
	}
	f, err := os.Open(name)
	if err != nil {
		return Finding{"files", Bad, fmt.Sprintf("%s: %v", what, err), "hikyaku cannot read it as this account",
			"chown it to the account that hikyaku runs as"}, true
	}
	_ = f.Close() // it was only to be opened
	return Ok("files", "%s", shown), true
}

// Folder judges whose a folder is, and whether this account may write to it. One that is not there may be made.
func Folder(dir string) Finding {
	info, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return Ok("files", "%s is not there yet: hikyaku makes it, for its account alone", dir)
	}
	if err != nil {
		return Finding{"files", Bad, err.Error(), "hikyaku does not start", "look at the permissions of the folders " +
			"above it"}
	}
	if !info.IsDir() {
		return Finding{"files", Bad, dir + " is no folder", "hikyaku does not start", "set another data_dir"}
	}
	owner, own := ownerOf(info)
	return owned(dir, owner, own, info.Mode())
}

// owned judges whose a folder is, asked by an account.
func owned(dir string, owner, own int, mode fs.FileMode) Finding {
	switch {
	case owner == own:
		return Ok("files", "%s is this account's, mode %04o", dir, mode.Perm())
	case own == 0:
		return Finding{"files", Warn, fmt.Sprintf("%s belongs to uid %d, and this is root", dir, owner), "what root " +
			"makes " +
			"in it is root's: the service cannot open it then", "run hikyaku as the account that owns it"}
	}
	return Finding{"files", Bad, fmt.Sprintf("%s belongs to uid %d, and this account is uid %d", dir, owner, own),
		"hikyaku does not start as this account", fmt.Sprintf("run it, and this, as the account that owns it: sudo "+
			"-u \\#%d",
			owner)}
}
