package loader

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/function/code"
)

// nativeProperty tells Java's client where its native library is. Otherwise each start unpacks it to a file of /tmp
// that has always the same name. Where instances share /tmp, one whose start has just mapped that file dies of SIGBUS
// when the next one writes it anew.
const nativeProperty = "com.amazonaws.services.lambda.runtime.api.client.runtimeapi.NativeClient.JNI"

// maxNative is how large such a library may be: they have some 3 MB.
const maxNative = 16 << 20

// native is the native library of a client that lies unpacked in a folder, or in a jar, from which it is unpacked into
// the folder to, once. "": there is none for this machine, or it cannot be unpacked. Then the client sees to it.
func native(folder, jar, to string) string {
	name := nativeName()
	if name == "" {
		return ""
	}
	if jar == "" {
		if file := filepath.Join(folder, filepath.FromSlash(name)); exists(file) {
			return file
		}
		return ""
	}
	z, closer, err := code.OpenFile(jar)
	if err != nil {
		return ""
	}
	defer closer.Close()
	for _, f := range z.File {
		if f.Name != name || f.UncompressedSize64 > maxNative || f.CompressedSize64 > maxNative {
			continue
		}
		sum, err := packed(f)
		if err != nil {
			return ""
		}
		file := filepath.Join(to, "java-"+sum+".so")
		if !exists(file) && unpack(f, file) != nil {
			return ""
		}
		return file
	}
	return ""
}

// packed is a checksum of a file as it is packed. Functions share what is unpacked from the same, and one that was made
// to look like another's is never taken for it, as with the archive's own checksum.
func packed(f *zip.File) (string, error) {
	r, err := f.OpenRaw()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, f.Method)
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// nativeName is the name of the library for this machine.
func nativeName() string {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch_64"}[runtime.GOARCH]
	switch {
	case runtime.GOOS != "linux" || machine == "":
		return ""
	case exists("/lib64/ld-linux-x86-64.so.2"), exists("/lib/ld-linux-aarch64.so.1"):
		return "jni/libaws-lambda-jni.linux-" + machine + ".so"
	}
	if musl, _ := filepath.Glob("/lib/ld-musl-*.so.1"); len(musl) > 0 { // the pattern is right
		return "jni/libaws-lambda-jni.linux_musl-" + machine + ".so"
	}
	return ""
}

// unpack makes a file that is whole as soon as it is there: another start may be doing the same.
func unpack(f *zip.File, file string) (err error) {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.CreateTemp(filepath.Dir(file), "java-*.part")
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.LimitReader(r, maxNative))
	if err = errors.Join(err, w.Chmod(0o755), w.Close()); err == nil {
		err = os.Rename(w.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(w.Name()))
	}
	return nil
}
