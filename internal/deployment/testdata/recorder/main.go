// Command recorder is a function for tests: it appends a line with the request's id and its own process's to the file
// RECORD, and answers, when the file GATE is there.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	record, err := os.OpenFile(os.Getenv("RECORD"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	rest, _ := time.ParseDuration(os.Getenv("REST")) // none is no rest
	for {
		r, err := http.Get(api + "next")
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		id := r.Header.Get("Lambda-Runtime-Aws-Request-Id")
		if _, err := fmt.Fprintf(record, "%s %d\n", id, os.Getpid()); err != nil {
			panic(err)
		}
		time.Sleep(rest)
		for gate := os.Getenv("GATE"); gate != ""; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(gate); err == nil {
				break
			}
		}
		answer, err := http.Post(api+id+"/response", "application/json", strings.NewReader("null"))
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
}
