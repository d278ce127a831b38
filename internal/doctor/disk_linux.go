package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// syncData makes a file's content durable, as the journal does.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// medium finds where a folder lies; its path has no links in it.
func medium(dir string) (Medium, bool) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Medium{}, false
	}
	m, device := mountOf(string(text), dir)
	if m.Mount == "" {
		return Medium{}, false
	}
	m.ask("/sys/dev/block/" + device)
	return m, true
}

// mountOf finds the mount that a path is in, in the text of /proc/self/mountinfo, and its device, as 8:1. Of several at
// one place the last one is seen.
func mountOf(text, path string) (m Medium, device string) {
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(kind) < 2 {
			continue
		}
		point := unescaped(fields[4])
		if path != point && point != "/" && !strings.HasPrefix(path, point+"/") || len(point) < len(m.Mount) {
			continue
		}
		options := strings.Split(fields[5], ",")
		if len(kind) > 2 {
			options = append(options, strings.Split(kind[2], ",")...)
		}
		m, device = Medium{Mount: point, Type: kind[0], Source: unescaped(kind[1]), Options: options}, fields[2]
	}
	return m, device
}

// unescaped undoes what the kernel does to spaces, tabs, line ends and backslashes.
func unescaped(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// nameless opens a file that never has a name.
func nameless(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
}

// ask asks the device, or that which it is a part of, for its cache.
func (m *Medium) ask(device string) {
	real, err := filepath.EvalSymlinks(device)
	if err != nil {
		return
	}
	for _, dir := range []string{real, filepath.Dir(real)} {
		cache, err := os.ReadFile(filepath.Join(dir, "queue", "write_cache"))
		if err != nil {
			continue
		}
		volatile := strings.TrimSpace(string(cache)) == "write back"
		m.Volatile = &volatile
		return
	}
}

// findings are what the file system says by its type and options.
func (m *Medium) findings(durable bool) (found []Finding) {
	level, name := Bad, fmt.Sprintf("%s at %s", m.Type, m.Mount)
	if !durable {
		level = Warn
	}
	has := func(options ...string) string {
		for _, o := range options {
			if slices.Contains(m.Options, o) {
				return o
			}
		}
		return ""
	}
	switch {
	case m.Type == "tmpfs" || m.Type == "ramfs":
		found = append(found, Finding{"disk", level, name + " is in memory", "a restart of the machine loses every " +
			"message",
			"set data_dir to a folder on a disk"})
	case m.Type == "overlay" && has("volatile") != "":
		found = append(found, Finding{"disk", level, name + " is mounted with volatile", "syncs do nothing",
			"set data_dir to a volume on a disk"})
	case m.Type == "overlay" || m.Type == "aufs":
		found = append(found, Finding{"disk", Warn, name + " is the layer of a container", "what is in it is gone " +
			"with " +
			"the container", "mount a volume, and set data_dir to it"})
	case slices.Contains([]string{"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "ceph"}, m.Type):
		found = append(found, Finding{"disk", Warn, name + " is another machine's", "what a sync means, and whether " +
			"two " +
			"servers can be kept apart, is up to that machine", "set data_dir to a disk of this machine"})
	default:
		found = append(found, Ok("disk", "%s, %s", name, m.Source))
	}
	if o := has("nobarrier", "barrier=0", "barrier=none"); o != "" {
		found = append(found, Finding{"disk", level, name + " is mounted with " + o, "a sync does not empty the " +
			"disk's cache: " +
			"what was acknowledged may be gone after a power cut", "mount it without that option"})
	}
	if has("ro") != "" {
		found = append(found, Finding{"disk", Bad, name + " is mounted to be read only", "nothing can be put",
			"mount it to be written, or look into the kernel's log for why it is not"})
	}
	return found
}

// preloaded tells whether a library that makes syncs void is put before all others. hikyaku calls the kernel itself.
func preloaded(libraries string) (Finding, bool) {
	if !strings.Contains(libraries, "eatmydata") {
		return Finding{}, false
	}
	return Finding{"disk", Warn, "LD_PRELOAD names libeatmydata, which makes syncs void", "not those of hikyaku, " +
		"which " +
		"asks the kernel itself, but those of the programs that it starts", "start hikyaku without it"}, true
}

// Room tells whether a folder, which need not be there yet, has room: bad below what least says of a disk of so many
// bytes, and worth a word below wanted.
func Room(dir string, least func(all int64) int64, wanted int64) []Finding {
	at, err := Existing(dir)
	if err != nil {
		return nil // Disk says it
	}
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return []Finding{{"room", Warn, at + ": " + err.Error(), "it is not known how much room there is", ""}}
	}
	block := int64(st.Frsize) //nolint:unconvert // it has other types on other processors
	if block == 0 {
		block = int64(st.Bsize) //nolint:unconvert // as above
	}
	all := int64(st.Blocks) * block
	return room(int64(st.Bavail)*block, all, int64(st.Ffree), int64(st.Files), least(all), wanted)
}

const fewFree = 1000 // inodes

// room judges free bytes and inodes, of so many.
func room(free, all, inodes, allInodes, least, wanted int64) (found []Finding) {
	what := fmt.Sprintf("%s of %s are free", size(free), size(all))
	switch {
	case free < least:
		found = append(found, Finding{"room", Bad, what + ", and the journal wants " + size(least) + " to begin with",
			"puts are refused, or hikyaku does not start", "make room"})
	case free < wanted:
		found = append(found, Finding{"room", Warn, what + ", and the queues may take " + size(wanted),
			"the disk is full before a limit is reached: puts are refused then, and nothing is lost",
			"take a larger disk, or set limits: { bytes: } to less"})
	default:
		found = append(found, Ok("room", "%s", what))
	}
	switch {
	case allInodes == 0: // it has no fixed number
	case inodes == 0:
		found = append(found, Finding{"room", Bad, "no inodes are free", "no file can be made: puts are refused",
			"remove files, or make the file system anew with more inodes"})
	case inodes < fewFree:
		found = append(found, Finding{"room", Warn, fmt.Sprintf("%d inodes are free", inodes), "each file of the " +
			"log is one",
			"remove files, or make the file system anew with more inodes"})
	}
	return found
}
