package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// said is what a command says on both outputs, which may be an error.
func said(t *testing.T, command string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_PAGER=", "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// installDeb installs a package into a folder, upgrades it, removes it, and purges it. No service manager is there, so
// of the scripts that part is run which makes the user and keeps or removes the data.
func installDeb(t *testing.T, deb string) {
	dir := t.TempDir()
	for _, name := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info", "etc", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return string(b)
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("var/lib/dpkg/status", "")
	dpkg := func(args ...string) string {
		t.Helper()
		all := append([]string{"dpkg", "--root=" + dir, "--force-script-chrootless", "--force-depends",
			"--log=/dev/null"}, args...)
		if os.Geteuid() != 0 {
			all = append([]string{"unshare", "--map-root-user"}, all...)
		}
		text, err := said(t, all[0], all[1:]...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return text
	}
	dpkg("--install", deb)
	if text, err := said(t, filepath.Join(dir, "usr/bin/hikyaku"), "version"); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	for name, has := range map[string]string{
		"etc/passwd":                                    ":/var/lib/hikyaku:/usr/sbin/nologin",
		"usr/lib/systemd/system/hikyaku.service":        "Type=notify",
		"usr/share/doc/hikyaku/copyright":               "Apache-2.0",
		"usr/share/doc/hikyaku/docs/operations.md":      "# Operations",
		"usr/share/doc/hikyaku/licences/go.dev/LICENSE": "The Go Authors",
		"usr/share/doc/hikyaku/changelog.Debian.gz":     "",
		"var/lib/dpkg/info/hikyaku.conffiles":           "/etc/hikyaku/hikyaku.yaml",
		"usr/share/doc/hikyaku/functions.conf":          "Delegate=yes",
		"usr/share/doc/hikyaku/examples/push.yaml":      "sinks:",
	} {
		if text := read(name); text == "" || !strings.Contains(text, has) {
			t.Errorf("%s does not have %q", name, has)
		}
	}
	const own, kept, data = "data_dir: /srv/hikyaku\n", "etc/hikyaku/hikyaku.yaml", "var/lib/hikyaku/journal/0.log"
	write(kept, own)
	write(data, "messages")
	dpkg("--install", deb)
	if read(kept) != own || read(data) == "" {
		t.Errorf("an upgrade has left %q, %q", read(kept), read(data))
	}
	if text := dpkg("--remove", "hikyaku"); !strings.Contains(text, "/var/lib/hikyaku is kept") {
		t.Errorf("a removal says\n%s", text)
	}
	if read(kept) != own || read(data) == "" || read("usr/bin/hikyaku") != "" {
		t.Errorf("a removal has left %q, %q", read(kept), read(data))
	}
	if text := dpkg("--purge", "hikyaku"); !strings.Contains(text, "/var/lib/hikyaku is removed") {
		t.Errorf("a purge says\n%s", text)
	}
	if read(kept) != "" || read(data) != "" {
		t.Errorf("a purge has left %q, %q", read(kept), read(data))
	}
}

// lookAtRPM has rpm check a package's sums, and what it would do.
func lookAtRPM(t *testing.T, file string) {
	for _, look := range []struct {
		args []string
		has  []string
	}{
		{[]string{"--checksig", "--nosignature"}, []string{"digests OK"}},
		{[]string{"--query", "--package", "--info"}, []string{"License     : Apache-2.0", "Build Host  : hikyaku"}},
		{[]string{"--query", "--package", "--configfiles"}, []string{"/etc/hikyaku/hikyaku.yaml"}},
		{[]string{"--query", "--package", "--queryformat", "[%{FILEFLAGS:fflags} %{FILENAMES}\n]"},
			[]string{"cn /etc/hikyaku/hikyaku.yaml"}}, // noreplace
		{[]string{"--query", "--package", "--list"}, []string{"/usr/bin/hikyaku\n",
			"/usr/lib/systemd/system/hikyaku.service\n", "/usr/lib/sysusers.d/hikyaku.conf\n",
			"/usr/share/doc/hikyaku/licences/go.dev/LICENSE\n"}},
		{[]string{"--query", "--package", "--scripts"}, []string{"systemd-sysusers hikyaku.conf", "try-restart",
			"is kept"}},
	} {
		text, err := said(t, "rpm", append(look.args, file)...)
		if err != nil {
			t.Errorf("rpm %v: %v (scripts/need rpm)\n%s", look.args, err, text)
		}
		for _, has := range look.has {
			if !strings.Contains(text, has) {
				t.Errorf("rpm %v does not tell %q:\n%s", look.args, has, text)
			}
		}
	}
	if text, _ := said(t, "rpm", "--query", "--package", "--scripts", file); strings.Contains(text, " start ") ||
		strings.Contains(text, "rm -") {
		t.Errorf("a script of the rpm starts the service, or removes something:\n%s", text)
	}
}

// exposure is how much of the system the unit may have at most, as systemd-analyze counts it, in tenths. Raise it for
// nothing that a drop-in can give back.
const exposure = "18"

// lookAtUnit has systemd check the unit, alone and with the drop-in for functions, and the program its command lines
// and its configuration.
func lookAtUnit(t *testing.T, program string) {
	text, err := os.ReadFile(filepath.Join(root, "packaging/hikyaku.service"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unit, dropIn := filepath.Join(dir, "hikyaku.service"), filepath.Join(dir, "hikyaku.service.d")
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/bin/hikyaku ", program+" ")),
		0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := said(t, "systemd-analyze", "security", "--offline=true", "--threshold="+exposure, unit); err != nil {
		t.Errorf("the unit may have too much: %v (scripts/need rpm)\n%s", err, out)
	}
	verify := func() {
		t.Helper()
		if out, err := said(t, "systemd-analyze", "verify", "--man=no", unit); err != nil || out != "" {
			t.Errorf("verify: %v\n%s", err, out)
		}
	}
	verify()
	if err := os.CopyFS(dropIn, os.DirFS(filepath.Join(root, "packaging"))); err != nil {
		t.Fatal(err)
	}
	verify()
	lines := 0
	for line := range strings.Lines(string(text)) {
		name, command, _ := strings.Cut(strings.TrimSpace(line), "=")
		words := strings.Fields(command)
		if !strings.HasPrefix(name, "ExecStart") {
			continue
		}
		lines++
		help, err := said(t, program, words[1], "--help")
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, help)
		}
		for _, word := range words[2:] {
			if strings.HasPrefix(word, "-") && !strings.Contains(help, word+",") && !strings.Contains(help, word+" ") {
				t.Errorf("%s has no %s", words[1], word)
			}
		}
	}
	if lines != 2 {
		t.Errorf("the unit has %d command lines", lines)
	}
	if out, err := said(t, program, "validate", "-c", filepath.Join(root, "packaging/hikyaku.yaml")); err != nil {
		t.Errorf("the configuration of the packages: %v\n%s", err, out)
	}
}
