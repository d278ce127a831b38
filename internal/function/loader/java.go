package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/function/code"
)

// client is the class that runs a Java function.
const client = "com.amazonaws.services.lambda.runtime.api.client.AWSLambda"

func java(w Want) (Start, error) {
	classes := []string{w.Dir}
	lib := filepath.Join(w.Dir, "lib")
	jars, _ := filepath.Glob(filepath.Join(lib, "*.jar")) // the pattern is right
	own, _ := filepath.Glob(filepath.Join(w.Dir, "*.jar"))
	jars = append(jars, own...)
	for _, l := range w.Layers {
		more, _ := filepath.Glob(filepath.Join(l, "java", "lib", "*.jar"))
		jars = append(jars, more...)
	}
	for _, j := range jars {
		if info, err := os.Stat(j); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return Start{}, fmt.Errorf("%w: %s is neither a file nor a folder, and Java would wait for it: take it away",
				ErrMissing, j)
		}
	}
	classes = append(classes, jars...)
	jar, there := clientIn(w.Dir, jars)
	if !there {
		return Start{}, fmt.Errorf("%w: %s is in no jar below %s: add "+
			"com.amazonaws:aws-lambda-java-runtime-interface-client to the function's dependencies, and have them "+
			"packed into its jar or its lib folder",
			ErrMissing, client, w.Dir)
	}
	s := Start{Path: w.Interpreter, Args: []string{w.Interpreter}}
	// as the provider has them: quick to start rather than quick for long
	for _, o := range []struct{ name, value string }{
		{"UseSerialGC", "-XX:+UseSerialGC"},
		{"TieredStopAtLevel", "-XX:TieredStopAtLevel=1"},
		{"UsePerfData", "-XX:-UsePerfData"}, // its files would be outside of the instance's folder
		{"MaxHeapSize", "-XX:MaxHeapSize=" + strconv.Itoa(max(w.MemoryMB*85/100, 16)) + "m"},
		{"java.io.tmpdir", "-Djava.io.tmpdir=" + w.Temp},
	} {
		if !strings.Contains(w.Options, o.name) && (o.name != "MaxHeapSize" || !strings.Contains(w.Options, "-Xmx")) &&
			(o.name != "UseSerialGC" || !strings.Contains(w.Options, "GC")) {
			s.Args = append(s.Args, o.value)
		}
	}
	if w.Loaders != "" && !strings.Contains(w.Options, nativeProperty) {
		if library := native(w.Dir, jar, w.Loaders); library != "" {
			s.Args = append(s.Args, "-D"+nativeProperty+"="+library)
		}
	}
	s.Args = append(s.Args, "-cp", strings.Join(classes, string(os.PathListSeparator)), client, w.Handler)
	return s, nil
}

// clientIn tells whether the runtime's client is in the folder or one of the jars, and in which; "": in the folder.
func clientIn(dir string, jars []string) (jar string, there bool) {
	file := strings.ReplaceAll(client, ".", "/") + ".class"
	if exists(filepath.Join(dir, filepath.FromSlash(file))) {
		return "", true
	}
	for _, j := range jars {
		if strings.Contains(filepath.Base(j), "aws-lambda-java-runtime-interface-client") || contains(j, file) {
			return j, true
		}
	}
	return "", false
}

func contains(jar, file string) bool {
	z, closer, err := code.OpenFile(jar)
	if err != nil {
		return false
	}
	defer closer.Close()
	for _, f := range z.File {
		if f.Name == file {
			return true
		}
	}
	return false
}
