// Command bootstrap is a function for tests, with a Runtime API client of its own: small enough to see what is said.
// What it does with an event is in the event.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

type event struct {
	Do     string `json:"do"`
	Text   string `json:"text"`
	N      int    `json:"n"`
	Millis int    `json:"millis"`
}

func main() {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/"
	begin(api)
	for n := 1; ; n++ {
		r, err := http.Get(api + "invocation/next")
		if err != nil {
			panic(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		_ = r.Body.Close()
		serve(api, r.Header, body, n)
	}
}

// begin does what the variable INIT says before the first event is asked for.
func begin(api string) {
	switch what := os.Getenv("INIT"); what {
	case "exit":
		fmt.Println("going away")
		os.Exit(7)
	case "error":
		post(api+"init/error", `{"errorType":"Init.Broken","errorMessage":"no configuration"}`,
			"Lambda-Runtime-Function-Error-Type", "Init.Broken")
		os.Exit(1)
	case "hang":
		fmt.Println("thinking")
		select {}
	case "hang once":
		if f, err := os.OpenFile(os.Getenv("MARK"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			fmt.Println("thinking")
			select {}
		}
	case "":
	default:
		fmt.Println(what)
	}
}

func serve(api string, h http.Header, body []byte, n int) {
	id := h.Get("Lambda-Runtime-Aws-Request-Id")
	var e event
	if json.Unmarshal(body, &e) != nil {
		e.Text = string(body)
	}
	respond := func(text string) *http.Response {
		return post(api+"invocation/"+id+"/response", text, "", "")
	}
	switch e.Do {
	case "": // as it came
		respond(string(body))
	case "print":
		fmt.Println(e.Text)
		respond(`"printed"`)
	case "print half":
		fmt.Print(e.Text)
		respond(`"printed"`)
	case "write": // n bytes into a file, whose path may name variables
		said := "written"
		if err := os.WriteFile(os.ExpandEnv(e.Text), bytes.Repeat([]byte("x"), e.N), 0o600); err != nil {
			said = err.Error()
		}
		text, _ := json.Marshal(said)
		respond(string(text))
	case "read":
		read, err := os.ReadFile(e.Text)
		if err != nil {
			read = []byte(err.Error())
		}
		text, _ := json.Marshal(string(read))
		respond(string(text))
	case "flood":
		line := strings.Repeat("x", 1000) + "\n"
		for {
			fmt.Print(line)
		}
	case "pid":
		respond(fmt.Sprintf(`{"pid":%d,"n":%d}`, os.Getpid(), n))
	case "headers":
		text, _ := json.Marshal(h)
		respond(string(text))
	case "environment":
		text, _ := json.Marshal(os.Environ())
		respond(string(text))
	case "sleep":
		time.Sleep(time.Duration(e.Millis) * time.Millisecond)
		respond(`"slept"`)
	case "wait": // until the file is there
		for {
			if _, err := os.Stat(e.Text); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		respond(`"waited"`)
	case "loop":
		for {
		}
	case "crash":
		os.Exit(e.N)
	case "crash after":
		respond(`"last words"`)
		os.Exit(e.N)
	case "hang after":
		respond(`"last words"`)
		select {}
	case "leak":
		var kept [][]byte
		for {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "fork":
		cmd := exec.Command("/bin/sh", "-c",
			`sleep 1000 >/dev/null 2>&1 & echo $!; setsid sleep 1000 >/dev/null 2>&1 & echo $!`)
		out, err := cmd.Output()
		if err != nil {
			panic(err)
		}
		text, _ := json.Marshal(strings.Fields(string(out)))
		respond(string(text))
	case "fork bomb": // as many as it can
		n := 0
		for ; n < 5000; n++ {
			if exec.Command("/bin/sleep", "1000").Start() != nil {
				break
			}
		}
		respond(fmt.Sprint(n))
	case "error":
		post(api+"invocation/"+id+"/error", `{"errorType":"Oops","errorMessage":"`+e.Text+`"}`,
			"Lambda-Runtime-Function-Error-Type", "Oops")
	case "large":
		r := respond(strings.Repeat("x", e.N))
		fmt.Println("told", r.StatusCode)
	case "twice":
		respond(`"first"`)
		r := respond(`"second"`)
		text, _ := io.ReadAll(r.Body)
		fmt.Println("told", r.StatusCode, string(text))
	case "stranger":
		r := post(api+"invocation/not-its-id/response", `"who?"`, "", "")
		fmt.Println("told", r.StatusCode)
		respond(`"mine"`)
	case "stream", "stream and fail":
		stream(api, id, e)
	}
}

func stream(api, id string, e event) {
	r, w := io.Pipe()
	req, err := http.NewRequest("POST", api+"invocation/"+id+"/response", r)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Lambda-Runtime-Function-Response-Mode", "streaming")
	req.Header.Set("Content-Type", "text/plain")
	if e.Do == "stream and fail" {
		req.Trailer = http.Header{"Lambda-Runtime-Function-Error-Type": nil, "Lambda-Runtime-Function-Error-Body": nil}
	}
	go func() {
		for i := range e.N {
			fmt.Fprintf(w, "piece %d\n", i)
		}
		if req.Trailer != nil {
			req.Trailer.Set("Lambda-Runtime-Function-Error-Type", "Stream.Broken")
			req.Trailer.Set("Lambda-Runtime-Function-Error-Body", "eyJlcnJvclR5cGUiOiJTdHJlYW0uQnJva2VuIn0=")
		}
		_ = w.Close()
	}()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
}

func post(url, text, header, value string) *http.Response {
	req, err := http.NewRequest("POST", url, strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if header != "" {
		req.Header.Set(header, value)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	text2, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(text2))
	return r
}
