// Command caller is a function for tests that makes the request which its event describes, and tells what was answered.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
)

type request struct {
	Method string            `json:"method"`
	URL    string            `json:"url"`
	Body   string            `json:"body"`
	Header map[string]string `json:"header"`
}

type answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
	Error  string `json:"error"`
}

func main() {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	for {
		next, err := http.Get(api + "next")
		if err != nil {
			panic(err)
		}
		var r request
		err = json.NewDecoder(next.Body).Decode(&r)
		_ = next.Body.Close()
		if err != nil {
			panic(err)
		}
		said, err := json.Marshal(ask(r))
		if err != nil {
			panic(err)
		}
		done, err := http.Post(api+next.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/response", "application/json",
			bytes.NewReader(said))
		if err != nil {
			panic(err)
		}
		_ = done.Body.Close()
	}
}

func ask(r request) answer {
	req, err := http.NewRequest(r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return answer{Error: err.Error()}
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, 5<<20))
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Status: got.StatusCode, Body: string(text)}
}
