//go:build linux

// Command escape is a function that tries to get out, in as many ways as it knows. What it shall try them on is in the
// event; it answers with what each way has given it: "" for nothing.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// target is what a function should not reach.
type target struct {
	Owner   int    // the process that runs functions, as the machine numbers it
	Journal string // a file of data_dir
	Config  string // the configuration
	Code    string // its own code
	Other   string // the code of another function
	Layer   string
	Temp    string // the temporary files of another instance
	Socket  string // a socket in the file system
	Name    string // of a socket without a file
	Door    string // the address of a door
	Runtime string // the address of another instance's Runtime API
	Secret  string // what is in every file that should not be read
}

func main() {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/"
	for {
		r, err := http.Get(api + "invocation/next")
		if err != nil {
			panic(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		_ = r.Body.Close()
		var e struct {
			Do string
			On target
		}
		if err := json.Unmarshal(body, &e); err != nil {
			panic(err)
		}
		got := map[string]string{}
		for name, try := range ways {
			if e.Do == "" && !strings.HasPrefix(name, "bomb") && !strings.HasPrefix(name, "network") || e.Do == name {
				got[name] = attempt(try, &e.On)
			}
		}
		text, err := json.Marshal(got)
		if err != nil {
			panic(err)
		}
		r, err = http.Post(api+"invocation/"+r.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/response",
			"application/json", bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		_ = r.Body.Close()
	}
}

// attempt tries one way; a panic is no way out.
func attempt(try func(*target) string, on *target) (got string) {
	defer func() {
		if v := recover(); v != nil {
			got = ""
		}
	}()
	return try(on)
}

// succeeded is what a way has given if there was no error.
func succeeded(err error, what string, args ...any) string {
	if err != nil {
		return ""
	}
	return fmt.Sprintf(what, args...)
}

// reads tells whether the secret can be read in a file.
func reads(path string, on *target) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 1<<20)) // what came before an error counts
	if bytes.Contains(text, []byte(on.Secret)) {
		return "has read " + path
	}
	return ""
}

// writes tells whether a file can be made, and takes it away again.
func writes(path string) string {
	if err := os.WriteFile(path, []byte("was here"), 0o600); err != nil {
		return ""
	}
	_ = os.Remove(path)
	return "has written " + path
}
