package loader_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function/loader"
)

// lay makes files below a folder and returns it; a name that ends with a ! may be executed.
func lay(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		mode := os.FileMode(0o644)
		if cut, ok := strings.CutSuffix(name, "!"); ok {
			name, mode = cut, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// onPath makes a PATH with nothing but the programs.
func onPath(t *testing.T, names ...string) {
	t.Helper()
	for i := range names {
		names[i] += "!"
	}
	t.Setenv("PATH", lay(t, names...))
}

func find(t *testing.T, w loader.Want) loader.Start {
	t.Helper()
	s, err := loader.Find(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRuntimesAreKnownByTheProvidersNames(t *testing.T) {
	for name, want := range map[string]string{"nodejs20.x": "nodejs", "nodejs": "nodejs", "python3.12": "python",
		"java21": "java", "java8.al2": "java",
		"provided.al2023": "provided", "provided.al2": "provided", "provided": "provided", "go1.x": "go",
		"command": "command",
		"":        "", "ruby3.3": "", "nodejs-next": "", "javascript": "", "Python3.9": "python"} {
		if got := loader.Family(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for _, f := range loader.Families() {
		if loader.Family(f) != f {
			t.Errorf("%s is no family", f)
		}
	}
}

func TestABootstrapIsLookedForInTheCodeThenInTheLayers(t *testing.T) {
	own, layer := lay(t, "bootstrap!"), lay(t, "bootstrap!")
	if s := find(t, loader.Want{Runtime: "provided", Dir: own, Layers: []string{layer}}); s.Path != own+"/bootstrap" {
		t.Errorf("%+v", s)
	}
	if s := find(t, loader.Want{Runtime: "provided", Dir: lay(t), Layers: []string{lay(t), layer}}); s.Path != layer+
		"/bootstrap" {
		t.Errorf("%+v", s)
	}
	if s := find(t, loader.Want{Runtime: "go1.x", Handler: "main",
		Dir: lay(t, "main!")}); filepath.Base(s.Path) != "main" {
		t.Errorf("%+v", s)
	}
}

func TestRealClientsComeBeforeOurLoaders(t *testing.T) {
	onPath(t, "node", "python3")
	loaders := lay(t)
	dir := lay(t, "node_modules/aws-lambda-ric/bin/index.mjs", "awslambdaric/__main__.py")
	if s := find(t, loader.Want{Runtime: "nodejs20.x", Handler: "a.b", Dir: dir,
		Loaders: loaders}); !slices.Equal(s.Args, []string{s.Path, dir + "/node_modules/aws-lambda-ric/bin/index.mjs",
		"a.b"}) {
		t.Errorf("%+v", s)
	}
	if s := find(t, loader.Want{Runtime: "python3.11", Handler: "a.b", Dir: dir,
		Loaders: loaders}); !slices.Equal(s.Args, []string{s.Path, "-m", "awslambdaric", "a.b"}) {
		t.Errorf("%+v", s)
	}
	layer := lay(t, "nodejs/node_modules/x/index.js", "python/x.py")
	s := find(t, loader.Want{Runtime: "nodejs", Handler: "a.b", Dir: lay(t), Layers: []string{layer}, Loaders: loaders,
		MemoryMB: 1000})
	if !slices.Equal(s.Args, []string{s.Path, "--max-old-space-size=900", loaders + "/node.js", "a.b"}) ||
		!slices.Contains(s.Env, "NODE_PATH="+layer+"/nodejs/node_modules") {
		t.Errorf("%+v", s)
	}
	own := lay(t)
	s = find(t, loader.Want{Runtime: "python", Handler: "a.b", Dir: own, Layers: []string{layer}, Loaders: loaders})
	if !slices.Equal(s.Args, []string{s.Path, loaders + "/python.py", "a.b"}) ||
		!slices.Contains(s.Env, "PYTHONPATH="+own+":"+layer+"/python") {
		t.Errorf("%+v", s)
	}
}

func TestThePythonThatIsNamedComesFirst(t *testing.T) {
	onPath(t, "python3", "python3.12")
	if s := find(t, loader.Want{Runtime: "python3.12", Handler: "a.b",
		Dir: lay(t)}); filepath.Base(s.Path) != "python3.12" {
		t.Errorf("%+v", s)
	}
	if s := find(t, loader.Want{Runtime: "python3.9", Handler: "a.b",
		Dir: lay(t)}); filepath.Base(s.Path) != "python3" {
		t.Errorf("%+v", s)
	}
}

func TestJavaFindsItsClientWhereverItIsPacked(t *testing.T) {
	onPath(t, "java")
	packed := lay(t, "lib/other.jar")
	f, err := os.Create(packed + "/lib/fat.jar")
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	if _, err := z.Create("com/amazonaws/services/lambda/runtime/api/client/AWSLambda.class"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"unpacked":  lay(t, "com/amazonaws/services/lambda/runtime/api/client/AWSLambda.class"),
		"by name":   lay(t, "lib/aws-lambda-java-runtime-interface-client-2.8.0.jar"),
		"in a jar":  packed,
		"in a root": lay(t, "aws-lambda-java-runtime-interface-client.jar"),
	} {
		s := find(t, loader.Want{Runtime: "java17", Handler: "a.B::c", Dir: dir, MemoryMB: 200, Temp: "/t"})
		classes := s.Args[slices.Index(s.Args, "-cp")+1]
		if !strings.HasPrefix(classes, dir) || !slices.Contains(s.Args, "-XX:MaxHeapSize=170m") ||
			!slices.Contains(s.Args, "-Djava.io.tmpdir=/t") || s.Args[len(s.Args)-1] != "a.B::c" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s := find(t, loader.Want{Runtime: "java17", Handler: "a.B::c", Dir: packed, MemoryMB: 200,
		Options: "-Xmx64m -XX:TieredStopAtLevel=4 -XX:+UseG1GC"})
	if args := strings.Join(s.Args, " "); strings.Contains(args, "MaxHeapSize") ||
		strings.Contains(args, "TieredStopAtLevel") || strings.Contains(args, "SerialGC") {
		t.Errorf("what the function says is overruled: %s", args)
	}
	if _, err := loader.Find(loader.Want{Runtime: "java17", Handler: "a.B::c",
		Dir: lay(t, "lib/other.jar")}); !errors.Is(err, loader.ErrMissing) ||
		!strings.Contains(err.Error(), "add com.amazonaws:aws-lambda-java-runtime-interface-client") {
		t.Errorf("without it: %v", err)
	}
}

func TestWhatIsMissingIsNamedWithWhatToDo(t *testing.T) {
	onPath(t)
	for _, c := range []struct {
		w    loader.Want
		says string
	}{
		{loader.Want{Runtime: "nodejs20.x"}, "node is not on this machine's PATH: install it"},
		{loader.Want{Runtime: "python3.12"}, "python3 is not on this machine's PATH"},
		{loader.Want{Runtime: "java21"}, "java is not on this machine's PATH"},
		{loader.Want{Runtime: "provided", Dir: "/d"}, "there is none at /d/bootstrap"},
		{loader.Want{Runtime: "provided", Dir: lay(t, "bootstrap")}, "set its mode to 755"},
		{loader.Want{Runtime: "command"}, "needs a command"},
		{loader.Want{Runtime: "command", Command: []string{"./x"}, Dir: "/d"}, "/d/x is not"},
		{loader.Want{Runtime: "cobol"}, `there is no runtime "cobol"; there are provided,`},
	} {
		if _, err := loader.Find(c.w); !errors.Is(err, loader.ErrMissing) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.w, err)
		}
	}
}
