package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function/process"
)

// outside makes a folder that is not below /tmp.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "hikyaku-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// in runs a script in a space and returns what it prints.
func in(t *testing.T, s *process.Starter, space *process.Space, script string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := s.Start(process.Program{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}, Out: w, Space: space})
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for buf := make([]byte, 4096); ; {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			break
		}
	}
	<-c.Done()
	return all.String()
}

// The ways in which a program gets a view of its own, as far as they are permitted here. Those that are not have to say why.
func views(t *testing.T, test func(t *testing.T, s *process.Starter)) {
	for _, way := range []string{"as it is", "as a user"} {
		t.Run(way, func(t *testing.T) {
			s := open(t)
			why := s.Mounts()
			if why == "" && way == "as a user" {
				why = s.AsUser()
			}
			if why != "" {
				if space, err := s.Space(process.View{Temp: t.TempDir(), TempBytes: 1 << 20}); s.Mounts() != "" && (space != nil || err == nil || !strings.Contains(err.Error(), why)) {
					t.Errorf("what is not permitted, because of %s, is not said: %v", why, err)
				}
				return
			}
			test(t, s)
		})
	}
}

func TestTemporaryFilesAreBoundedAndAProgramsOwn(t *testing.T) {
	views(t, func(t *testing.T, s *process.Starter) {
		dir := outside(t)
		temp := filepath.Join(dir, "temp")
		if err := os.Mkdir(temp, 0o700); err != nil {
			t.Fatal(err)
		}
		mark := filepath.Join(t.TempDir(), "mark") // in the machine's /tmp, as a rule
		write(t, mark, "")
		space, err := s.Space(process.View{Temp: temp, TempBytes: 1 << 20, Keep: []string{dir}})
		if err != nil || !space.Temp || !space.Tmp {
			t.Fatalf("%+v, %v", space, err)
		}
		defer space.Close()
		said := in(t, s, space, `cd /; [ -e `+mark+` ] && echo "sees the machine's"
head -c 900000 /dev/zero > /tmp/most && echo fits
[ -s `+temp+`/most ] && echo same
head -c 900000 /dev/zero > `+temp+`/more 2>/dev/null || echo full`)
		if said != "fits\nsame\nfull\n" {
			t.Errorf("%q", said)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Errorf("the machine has %v (%v)", left, err)
		}
		if said := in(t, s, nil, `[ -e `+mark+` ] && echo the machine`); said != "the machine\n" {
			t.Errorf("who has no view of its own sees another's: %q", said)
		}
	})
}

func TestWhatHasToBeSeenIsNotHidden(t *testing.T) {
	views(t, func(t *testing.T, s *process.Starter) {
		code := filepath.Join("/tmp", filepath.Base(outside(t)))
		write(t, code, "the code")
		defer os.Remove(code)
		space, err := s.Space(process.View{Temp: outside(t), TempBytes: 1 << 20, Keep: []string{code}})
		if err != nil || !space.Temp || space.Tmp {
			t.Fatalf("%+v, %v", space, err)
		}
		defer space.Close()
		if said := in(t, s, space, "cat "+code); said != "the code" {
			t.Errorf("%q", said)
		}
	})
}

func TestFoldersAreSeenTogetherAsOpt(t *testing.T) {
	if _, err := os.Stat("/opt"); err != nil {
		return // there is no such place
	}
	views(t, func(t *testing.T, s *process.Starter) {
		first, second := filepath.Join(outside(t), "a:b,c"), outside(t)
		write(t, filepath.Join(first, "both"), "first ")
		write(t, filepath.Join(first, "bin", "one"), "one ")
		write(t, filepath.Join(second, "both"), "second ")
		write(t, filepath.Join(second, "bin", "two"), "two ")
		for name, c := range map[string]struct {
			opt  []string
			want string
		}{
			"two folders": {[]string{first, second}, "first one two "},
			"one folder":  {[]string{second}, "second two "},
		} {
			space, err := s.Space(process.View{Temp: outside(t), TempBytes: 1 << 20, Opt: c.opt})
			if err != nil || !space.Opt {
				t.Fatalf("%s: %+v, %v", name, space, err)
			}
			if said := in(t, s, space, `cat /opt/both /opt/bin/* 2>&1; : 2>/dev/null > /opt/mine && echo written`); said != c.want {
				t.Errorf("%s: %q", name, said)
			}
			space.Close()
		}
		if _, err := os.Stat("/opt/both"); err == nil {
			t.Error("the machine's /opt was changed")
		}
	})
}

func TestSeveralProgramsShareAView(t *testing.T) {
	views(t, func(t *testing.T, s *process.Starter) {
		space, err := s.Space(process.View{Temp: outside(t), TempBytes: 1 << 20, Together: true})
		if err != nil {
			if space != nil || !strings.Contains(err.Error(), "would not share it") {
				t.Errorf("%+v, %v", space, err)
			}
			return
		}
		defer space.Close()
		in(t, s, space, "echo hello > /tmp/word")
		if said := in(t, s, space, "cat /tmp/word"); said != "hello\n" {
			t.Errorf("%q", said)
		}
	})
}

func TestAFolderThatIsNotThereIsSaid(t *testing.T) {
	views(t, func(t *testing.T, s *process.Starter) {
		for name, v := range map[string]process.View{
			"its temporary files are not bounded": {Temp: "/no/such", TempBytes: 1 << 20},
			"its layers are not at /opt":          {Temp: outside(t), TempBytes: 1 << 20, Opt: []string{"/no/such"}, Keep: []string{"/opt/mine"}},
		} {
			space, err := s.Space(v)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			if said := in(t, s, space, "echo on"); said != "on\n" {
				t.Errorf("%s: %q", name, said)
			}
			space.Close()
		}
	})
}
