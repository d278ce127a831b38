// Command bootstrap greets whoever a message names. It gets up to ten messages at once, and says which of them failed:
// only those come again.
//
//	CGO_ENABLED=0 go build -o examples/functions/go/bootstrap ./examples/functions/go
//
// It speaks the Runtime API itself, to show how little that is; with github.com/aws/aws-lambda-go it is
// lambda.Start(handle).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

type event struct {
	Records []struct{ MessageID, Body string }
}

type failure struct {
	ID string `json:"itemIdentifier"`
}

type answer struct {
	Failures  []failure `json:"batchItemFailures"`
	Greetings []string  `json:"greetings"`
}

func handle(e event) answer {
	a := answer{Failures: []failure{}}
	for _, r := range e.Records {
		if strings.TrimSpace(r.Body) == "" {
			a.Failures = append(a.Failures, failure{r.MessageID})
			continue
		}
		a.Greetings = append(a.Greetings, "hello "+r.Body)
	}
	fmt.Printf("%d greeted, %d failed\n", len(a.Greetings), len(a.Failures))
	return a
}

func main() {
	base := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	for {
		if err := next(base); err != nil {
			log.Fatal(err)
		}
	}
}

// next waits for an event and answers it.
func next(base string) error {
	r, err := http.Get(base + "next")
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err := r.Body.Close(); err != nil {
		return err
	}
	var e event
	if err != nil || json.Unmarshal(body, &e) != nil {
		return fmt.Errorf("an event cannot be read: %s: %v", body, err)
	}
	text, err := json.Marshal(handle(e))
	if err != nil {
		return err
	}
	done, err := http.Post(base+r.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/response", "application/json",
		bytes.NewReader(text))
	if err != nil {
		return err
	}
	return done.Body.Close()
}
