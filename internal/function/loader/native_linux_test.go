package loader_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/loader"
)

// nativeOf is the library that a start names; "": none.
func nativeOf(s loader.Start) string {
	for _, a := range s.Args {
		if file, ok := strings.CutPrefix(a,
			"-Dcom.amazonaws.services.lambda.runtime.api.client.runtimeapi.NativeClient.JNI="); ok {
			return file
		}
	}
	return ""
}

// libraries are what the client may bring along.
func libraries() (names []string) {
	for _, kind := range []string{"linux", "linux_musl"} {
		for _, machine := range []string{"x86_64", "aarch_64"} {
			names = append(names, "jni/libaws-lambda-jni."+kind+"-"+machine+".so")
		}
	}
	return names
}

// client lays the jar of Java's client into a folder, with libraries of these texts.
func client(t *testing.T, dir string, text func(name string) string) {
	t.Helper()
	f, err := os.Create(dir + "/lib/aws-lambda-java-runtime-interface-client.jar")
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range libraries() {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text(name)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Two texts of one length and one CRC-32, which is what a jar says of its files: whoever deploys a jar can make them.
func TestAFunctionGetsNoLibraryOfAnotherFunction(t *testing.T) {
	onPath(t, "java")
	loaders := t.TempDir()
	for _, text := range []string{"plumless", "buckeroo"} {
		dir := lay(t, "lib/other.jar")
		client(t, dir, func(string) string { return text })
		file := nativeOf(find(t, loader.Want{Runtime: "java17", Handler: "a.B::c", Dir: dir, Loaders: loaders}))
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("its library is %q (%v), want %q", got, err, text)
		}
	}
}

func TestStartsOfJavaShareNoLibraryThatIsWrittenAnew(t *testing.T) {
	onPath(t, "java")
	dir, loaders := lay(t, "lib/other.jar"), t.TempDir()
	client(t, dir, func(name string) string { return "the library " + name })
	want := loader.Want{Runtime: "java17", Handler: "a.B::c", Dir: dir, MemoryMB: 200, Loaders: loaders}
	first := nativeOf(find(t, want))
	if filepath.Dir(first) != loaders {
		t.Fatalf("the library is %q", first)
	}
	whole, err := os.ReadFile(first)
	if err != nil || !bytes.HasPrefix(whole, []byte("the library jni/")) {
		t.Fatalf("the library holds %q: %v", whole, err)
	}
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	if second := nativeOf(find(t, want)); second != first {
		t.Errorf("the next start has %q", second)
	}
	if after, err := os.Stat(first); err != nil || !os.SameFile(before, after) || after.ModTime() != before.ModTime() {
		t.Errorf("the next start has written it anew: %v", err)
	}
	if left, err := os.ReadDir(loaders); err != nil || len(left) != 1 {
		t.Errorf("there are %v (%v)", left, err)
	}

	want.Options = "-Dcom.amazonaws.services.lambda.runtime.api.client.runtimeapi.NativeClient.JNI=/mine.so"
	if said := nativeOf(find(t, want)); said != "" {
		t.Errorf("the function names one, and gets %q", said)
	}
}

func TestAClientWithoutALibraryThatIsKnownSeesToItself(t *testing.T) {
	onPath(t, "java")
	class := "com/amazonaws/services/lambda/runtime/api/client/AWSLambda.class"
	for name, dir := range map[string]string{
		"unpacked without one": lay(t, class),
		"no jar at all":        lay(t, "lib/aws-lambda-java-runtime-interface-client.jar"),
	} {
		if said := nativeOf(find(t, loader.Want{Runtime: "java17", Handler: "a.B::c", Dir: dir,
			Loaders: t.TempDir()})); said != "" {
			t.Errorf("%s: %q", name, said)
		}
	}
	unpacked := lay(t, append(libraries(), class)...)
	if said := nativeOf(find(t, loader.Want{Runtime: "java17", Handler: "a.B::c", Dir: unpacked,
		Loaders: t.TempDir()})); filepath.Dir(said) != filepath.Join(unpacked, "jni") {
		t.Errorf("unpacked with one: %q", said)
	}
}

// Whoever reads a pipe waits for its other end, without end: neither hikyaku nor Java is to.
func TestAPipeAmongTheJarsIsRefused(t *testing.T) {
	for _, layered := range []bool{false, true} {
		dir, layer := lay(t, "lib/aws-lambda-java-runtime-interface-client.jar"), lay(t, "java/lib/other.jar")
		pipe := dir + "/lib/app.jar"
		if layered {
			pipe = layer + "/java/lib/app.jar"
		}
		if err := unix.Mkfifo(pipe, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := loader.Find(loader.Want{Runtime: "java21", Handler: "a.B::c", Interpreter: "java", Dir: dir,
			Layers: []string{layer}})
		if !errors.Is(err, loader.ErrMissing) || !strings.Contains(err.Error(), pipe) {
			t.Errorf("%v, and %s is a pipe", err, pipe)
		}
		if _, _, err := code.OpenFile(pipe); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("it is opened: %v", err)
		}
	}
}
