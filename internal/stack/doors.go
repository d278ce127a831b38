package stack

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/api/lambda/sign"
)

// Queues calls the SQS door, in its JSON protocol.
type Queues struct {
	URL    string
	User   string // "": requests are not signed
	Secret access.Secret
	Region string
	TLS    *tls.Config // nil: the system's

	web *http.Client
}

// refusal is what the SQS door refuses a call with.
type refusal struct{ kind, message string }

func (e *refusal) Error() string { return e.kind + ": " + e.message }

// maxAnswer is more than any answer to these calls has.
const maxAnswer = 16 << 20

// call makes a call; out may be nil.
func (q *Queues) call(ctx context.Context, action string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(q.URL, "/")+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	if q.User != "" {
		sign.Request(r, body, q.User, q.Secret.Reveal(), q.Region, "sqs", time.Now())
	}
	if q.web == nil {
		q.web = &http.Client{Transport: &http.Transport{TLSClientConfig: q.TLS}}
	}
	answer, err := q.web.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		var said struct {
			Kind    string `json:"__type"`
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &said) != nil || said.Kind == "" {
			return fmt.Errorf("the SQS door answers %s", answer.Status)
		}
		return &refusal{said.Kind[strings.LastIndexByte(said.Kind, '#')+1:], said.Message}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read the SQS door's answer: %w", err)
	}
	return nil
}

// Close closes idle connections.
func (q *Queues) Close() {
	if q.web != nil {
		q.web.CloseIdleConnections()
	}
}

// absent tells whether an error of a door says that something is not there.
func absent(err error) bool {
	var of *lambda.Error
	var by *refusal
	return errors.As(err, &of) && of.Status == http.StatusNotFound ||
		errors.As(err, &by) && strings.HasSuffix(by.kind, "QueueDoesNotExist")
}

// taken tells whether an error of the Lambda door says that there is one already.
func taken(err error) bool {
	var of *lambda.Error
	return errors.As(err, &of) && of.Status == http.StatusConflict
}

// Paths of the Lambda door. The days before them are not told apart there.
const (
	functionsPath = "/2015-03-31/functions"
	mappingsPath  = "/2015-03-31/event-source-mappings"
	layersPath    = "/2018-10-31/layers"
	tagsPath      = "/2017-03-31/tags/"
)

func functionPath(name string, more ...string) string {
	path := functionsPath + "/" + url.PathEscape(name)
	for _, one := range more {
		path += "/" + url.PathEscape(one)
	}
	return path
}

// qualified adds a qualifier; "" is none.
func qualified(path, qualifier string) string {
	if qualifier == "" {
		return path
	}
	return path + "?Qualifier=" + url.QueryEscape(qualifier)
}
