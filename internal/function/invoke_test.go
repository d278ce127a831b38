package function_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAFunctionAnswersWithWhatItWasGiven(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, single)
	r := invoke(t, p, `{"hello": "world"}`)
	if string(r.Payload) != `{"hello": "world"}` || r.FunctionError != "" || !r.Cold || r.Usage.Init == 0 {
		t.Errorf("the first invocation: %+v with %s", r, r.Payload)
	}
	r = invoke(t, p, `{"hello": "again"}`)
	if string(r.Payload) != `{"hello": "again"}` || r.Cold || r.Usage.Init != 0 {
		t.Errorf("the second invocation: %+v with %s", r, r.Payload)
	}
}

func TestARequestsWordsReachTheFunction(t *testing.T) {
	p := open(t, function.Config{})
	deployed := deploy(t, p, nil)
	ask := function.Request{Function: "f", ID: "my-own-id", TraceID: "Root=1-2-3",
		ClientContext: `{"client":{"app":"x"}}`, Cognito: `{"cognitoIdentityId":"y"}`,
		Payload: []byte(`{"do":"headers"}`)}
	before := time.Now()
	r, err := p.Invoke(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	var h map[string][]string
	if err := json.Unmarshal(r.Payload, &h); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Lambda-Runtime-Aws-Request-Id":       "my-own-id",
		"Lambda-Runtime-Invoked-Function-Arn": deployed.ARN,
		"Lambda-Runtime-Trace-Id":             "Root=1-2-3",
		"Lambda-Runtime-Client-Context":       ask.ClientContext,
		"Lambda-Runtime-Cognito-Identity":     ask.Cognito,
	} {
		if len(h[name]) != 1 || h[name][0] != want {
			t.Errorf("%s is %q, want %q", name, h[name], want)
		}
	}
	var deadline int64
	if err := json.Unmarshal([]byte(h["Lambda-Runtime-Deadline-Ms"][0]), &deadline); err != nil ||
		time.UnixMilli(deadline).Before(before.Add(59*time.Second)) {
		t.Errorf("the deadline is %v (%v), the time-out a minute after %v", time.UnixMilli(deadline), err, before)
	}
	if deployed.ARN != "arn:aws:lambda:us-east-1:000000000000:function:f" {
		t.Errorf("the function is %s", deployed.ARN)
	}
}

func TestAFunctionFindsTheDocumentedEnvironment(t *testing.T) {
	t.Setenv("HOST_SECRET", "not for functions")
	p := open(t, function.Config{Region: "eu-west-1"})
	deployed := deploy(t, p, func(d *function.Definition) {
		d.Handler, d.Environment = "my.handler", map[string]string{"COLOUR": "blue", "AWS_ACCESS_KEY_ID": "mine"}
	})
	var env []string
	answer(t, p, `{"do":"environment"}`, &env)
	all := "\n" + strings.Join(env, "\n") + "\n"
	contains(t, "the environment", all, "\nCOLOUR=blue\n", "\nAWS_ACCESS_KEY_ID=mine\n", "\n_HANDLER=my.handler\n",
		"\nAWS_LAMBDA_FUNCTION_NAME=f\n",
		"\nAWS_LAMBDA_FUNCTION_MEMORY_SIZE=256\n", "\nAWS_LAMBDA_FUNCTION_VERSION=$LATEST\n",
		"\nAWS_REGION=eu-west-1\n", "\nAWS_LAMBDA_INITIALIZATION_TYPE=on-demand\n",
		"\nLAMBDA_TASK_ROOT="+deployed.Dir+"\n", "\nAWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/f\n", "\nTMPDIR=",
		"\nTZ=:UTC\n")
	if strings.Contains(all, "HOST_SECRET") {
		t.Error("the function sees what is in our environment")
	}
}

func TestAFunctionsErrorIsAResult(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	r := invoke(t, p, `{"do":"error","text":"no more tea"}`)
	if r.FunctionError != "Unhandled" || r.ErrorType != "Oops" ||
		string(r.Payload) != `{"errorType":"Oops","errorMessage":"no more tea"}` {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	if s, err := p.Stats("f", ""); err != nil || s.Errors != 1 || s.Invocations != 1 {
		t.Errorf("stats: %+v, %v", s, err)
	}
}

func TestOneInstanceServesOneInvocationAtATime(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	deploy(t, p, nil)
	mark := filepath.Join(t.TempDir(), "mark")
	var wg sync.WaitGroup
	instances := make([]string, 5)
	for n := range instances {
		wg.Go(func() {
			r, err := p.Invoke(t.Context(),
				function.Request{Function: "f", Payload: []byte(`{"do":"wait","text":"` + mark + `"}`)})
			if err != nil {
				t.Error(err)
				return
			}
			instances[n] = r.Instance
		})
	}
	waittest.Until(t, "five instances are busy", func() bool { s, _ := p.Stats("f", ""); return s.Counts.Busy == 5 })
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, i := range instances {
		if seen[i] {
			t.Errorf("%s has served two at once: %q", i, instances)
		}
		seen[i] = true
	}
}

func TestTooManyAtOnceAreRefusedWithTheReason(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None, Concurrency: 2})
	one := 1
	deploy(t, p, func(d *function.Definition) { d.Reserved = &one })
	deploy(t, p, func(d *function.Definition) { d.Name = "g" })
	mark := filepath.Join(t.TempDir(), "mark")
	var wg sync.WaitGroup
	for _, f := range []string{"f", "g"} {
		wg.Go(func() {
			if _, err := p.Invoke(t.Context(),
				function.Request{Function: f, Payload: []byte(`{"do":"wait","text":"` + mark + `"}`)}); err != nil {
				t.Error(err)
			}
		})
		waittest.Until(t, f+" is busy", func() bool { s, _ := p.Stats(f, ""); return s.Counts.Busy == 1 })
	}
	for f, reason := range map[string]string{"f": "ReservedFunctionConcurrentInvocationLimitExceeded",
		"g": "ConcurrentInvocationLimitExceeded"} {
		_, err := p.Invoke(t.Context(), function.Request{Function: f})
		var throttled *function.ThrottledError
		if !errors.Is(err, function.ErrThrottled) || !errors.As(err, &throttled) || throttled.Reason != reason ||
			throttled.Limit != 1 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	two := 2
	_, err := p.Deploy(function.Definition{Name: "h", Runtime: "provided", Code: definition().Code, Reserved: &two})
	var wrong *function.DefinitionError
	if !errors.As(err, &wrong) || wrong.Field != "reserved concurrency" {
		t.Errorf("reserving more than there is: %v", err)
	}
}

func TestAnEventIsBounded(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	whole := bytes.Repeat([]byte("x"), function.MaxPayload)
	r, err := p.Invoke(t.Context(), function.Request{Function: "f", Payload: whole})
	if err != nil || !bytes.Equal(r.Payload, whole) {
		t.Errorf("the largest event does not come back: %v", err)
	}
	if _, err := p.Invoke(t.Context(), function.Request{Function: "f", Payload: append(whole, 'x')}); !errors.Is(err,
		function.ErrTooLarge) {
		t.Errorf("a larger one: %v", err)
	}
}

func TestACallerThatGivesUpWhileItRunsLetsItRun(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	deploy(t, p, nil)
	invoke(t, p, `{}`)
	mark := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() {
		_, err := p.Invoke(ctx, function.Request{Function: "f", ID: "left-alone",
			Payload: []byte(`{"do":"wait","text":"` + mark + `"}`)})
		over <- err
	}()
	waittest.Until(t, "it runs", func() bool { s, _ := p.Stats("f", ""); return s.Counts.Busy == 1 })
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller is told %v", err)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "it ends", func() bool { return strings.Contains(text(t, p), "END RequestId: left-alone") })
}

func TestWhatIsNotDeployedIsUnknown(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	for _, r := range []function.Request{{Function: "nobody"}, {Function: "f", Version: "7"}} {
		if _, err := p.Invoke(t.Context(), r); !errors.Is(err, function.ErrUnknown) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if err := p.Remove("f", ""); err != nil {
		t.Error(err)
	}
	if _, err := p.Invoke(t.Context(), function.Request{Function: "f"}); !errors.Is(err, function.ErrUnknown) {
		t.Errorf("a removed one: %v", err)
	}
	if err := p.Remove("f", ""); !errors.Is(err, function.ErrUnknown) {
		t.Errorf("removing it again: %v", err)
	}
}

func TestANewDefinitionTakesOverWhileTheOldOneFinishes(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	deploy(t, p, nil)
	mark := filepath.Join(t.TempDir(), "mark")
	over := make(chan *function.Result)
	go func() {
		r, err := p.Invoke(t.Context(),
			function.Request{Function: "f", Payload: []byte(`{"do":"wait","text":"` + mark + `"}`)})
		if err != nil {
			t.Error(err)
		}
		over <- r
	}()
	waittest.Until(t, "it runs", func() bool { s, _ := p.Stats("f", ""); return s.Counts.Busy == 1 })
	deploy(t, p, func(d *function.Definition) { d.Environment = map[string]string{"INIT": "the new one"} })
	r := invoke(t, p, `{"new":true}`)
	if !r.Cold {
		t.Error("an old instance serves the new definition")
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if old := <-over; old == nil || string(old.Payload) != `"waited"` || old.Instance == r.Instance {
		t.Errorf("the old invocation: %+v", old)
	}
	contains(t, "the log, which goes on", text(t, p), "the new one", "END RequestId: "+r.RequestID)
}
