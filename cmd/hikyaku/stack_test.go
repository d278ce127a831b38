package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// stackDoors starts hikyaku with the doors that stacks are carried out over, and returns what leads commands to them.
func stackDoors(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(path, []byte("data_dir: "+filepath.Join(dir, "data")+`
durability: os
api:
  http: { listen: 127.0.0.1:0 }
  mysql: { off: true }
  pubsub: { off: true }
  sqs: { listen: 127.0.0.1:0 }
  lambda: { listen: 127.0.0.1:0, isolation: none }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(context.Background(), nil, "serve", "-c", path)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
	address := regexp.MustCompile(`door=(\w+) address=(\S+)`)
	found := map[string]string{}
	sc := bufio.NewScanner(stderr)
	for found["http"] == "" && sc.Scan() { // it opens last
		if m := address.FindStringSubmatch(sc.Text()); m != nil {
			found[m[1]] = "http://" + m[2]
		}
	}
	go func() {
		defer close(drained)
		for sc.Scan() {
		}
	}()
	if found["lambda"] == "" || found["sqs"] == "" {
		t.Fatalf("doors: %v", found)
	}
	return []string{"HIKYAKU_LAMBDA_URL=" + found["lambda"], "HIKYAKU_SQS_URL=" + found["sqs"]}
}

// parcelsTemplate has what stacks are made of; %VERSION% is the name of the version.
const parcelsTemplate = `
Parameters: { Greeting: { Type: String, Default: hello } }
Conditions: { Loud: !Equals [!Ref Greeting, HELLO] }
Resources:
  Dead: { Type: AWS::SQS::Queue, Properties: { QueueName: !Sub "${AWS::StackName}-dead" } }
  Parcels:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: "60"
      RedrivePolicy: { deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 2 }
      Tags: [{ Key: team, Value: couriers }]
  Extra: { Type: AWS::SQS::Queue, Condition: Loud }
  Allowed:
    Type: AWS::SQS::QueuePolicy
    Properties: { Queues: [!Ref Parcels], PolicyDocument: { Version: 2012-10-17, Statement: [] } }
  Role: { Type: AWS::IAM::Role }
  Words:
    Type: AWS::Lambda::LayerVersion
    Properties: { Content: words, CompatibleRuntimes: [python3.11] }
  Courier:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3
      Handler: index.handler
      Role: !GetAtt Role.Arn
      MemorySize: !If [Loud, 256, 128]
      Layers: [!Ref Words]
      Environment: { Variables: { GREETING: !Ref Greeting, LIMIT: 3 } }
      Code:
        ZipFile: |
          import os, words
          def handler(event, context):
              return os.environ["GREETING"] + " " + words.WORD + " " + os.environ["LIMIT"]
  %VERSION%: { Type: AWS::Lambda::Version, Properties: { FunctionName: !Ref Courier } }
  Live:
    Type: AWS::Lambda::Alias
    Properties: { FunctionName: !Ref Courier, FunctionVersion: !GetAtt %VERSION%.Version, Name: live }
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties: { EventSourceArn: !GetAtt Parcels.Arn, FunctionName: !Ref Live, BatchSize: 5 }
  May:
    Type: AWS::Lambda::Permission
    Properties: { FunctionName: !Ref Live, Action: lambda:InvokeFunction, Principal: events.amazonaws.com }
  Address:
    Type: AWS::Lambda::Url
    Properties: { TargetFunctionArn: !GetAtt Courier.Arn, AuthType: NONE }
  Patience:
    Type: AWS::Lambda::EventInvokeConfig
    Properties: { FunctionName: !Ref Courier, Qualifier: $LATEST, MaximumRetryAttempts: 1 }
Outputs: { Queue: { Value: !Ref Parcels }, Url: { Value: !GetAtt Address.FunctionUrl } }
`

func TestAStackIsDeployedChangedAndRemoved(t *testing.T) {
	env := stackDoors(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(want int, args ...string) result {
		t.Helper()
		r := hikyaku(t, "", env, args...)
		if r.code != want {
			t.Fatalf("%v: status %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
		return r
	}
	// counts how many rows of a table begin with a word.
	counts := func(r result, word string) int {
		return len(regexp.MustCompile(`(?m)^`+word+` `).FindAllString(r.stdout, -1))
	}
	invoke := func(want string) {
		t.Helper()
		if r := run(0, "function", "invoke", "parcels-Courier:live"); r.stdout != `"`+want+`"`+"\n" {
			t.Errorf("it says %s, want %s", r.stdout, want)
		}
	}
	write("words/python/words.py", "WORD = 'parcel'\n")
	first := write("template.yaml", strings.ReplaceAll(parcelsTemplate, "%VERSION%", "V1"))

	if r := run(0, "stack", "diff", "parcels", first); counts(r, "make") != 11 || counts(r, "passed over") != 1 {
		t.Errorf("diff of a new stack:\n%s", r.stdout)
	}
	if r := run(0, "stack", "ls"); strings.Contains(r.stdout, "parcels") {
		t.Errorf("diff made something:\n%s", r.stdout)
	}
	r := run(0, "stack", "deploy", "parcels", first)
	if counts(r, "made") != 11 || !strings.Contains(r.stdout, "Url = http") {
		t.Errorf("deploy:\n%s", r.stdout)
	}
	invoke("hello parcel 3")
	for _, again := range []string{"deploy", "diff"} {
		if r := run(0, "stack", again, "parcels", first); !strings.HasSuffix(r.stdout, "no changes\n") ||
			counts(r, "unchanged") != 11 {
			t.Errorf("%s again:\n%s", again, r.stdout)
		}
	}

	// A parameter changes the function; its new version, the alias; the condition brings a queue.
	second := write("template.yaml", strings.ReplaceAll(parcelsTemplate, "%VERSION%", "V2"))
	r = run(0, "stack", "deploy", "parcels", second, "--parameter", "Greeting=HELLO")
	if counts(r, "made") != 2 || counts(r, "changed") != 2 || counts(r, "deleted") != 1 {
		t.Errorf("with another parameter:\n%s", r.stdout)
	}
	invoke("HELLO parcel 3")
	write("words/python/words.py", "WORD = 'letter'\n")
	third := write("template.yaml", strings.ReplaceAll(parcelsTemplate, "%VERSION%", "V3"))
	r = run(0, "stack", "deploy", "parcels", third)
	if counts(r, "made") != 2 || counts(r, "changed") != 2 || counts(r, "deleted") != 3 {
		t.Errorf("with another layer:\n%s", r.stdout)
	}
	invoke("hello letter 3")

	// What is not of the stack is left alone, and is not taken over.
	other := write("other.yaml", `Resources: { Q: { Type: AWS::SQS::Queue, Properties: { QueueName: parcels-dead } } }`)
	if r := run(1, "stack", "deploy", "other", other); !strings.Contains(r.stderr, "did not make") {
		t.Errorf("a queue of another stack: %s", r.stderr)
	}
	for text, says := range map[string]string{
		`Resources: { T: { Type: AWS::DynamoDB::Table } }`:                                    "AWS::DynamoDB::Table",
		"Transform: AWS::Serverless-2016-10-31\nResources: { F: { Type: AWS::Lambda::Url } }": "aws-sam-translator",
		`Resources: { Q: { Type: AWS::SQS::Queue, Properties: { Colour: red } } }`:            "Colour",
	} {
		if r := run(1, "stack", "deploy", "other", write("wrong.yaml", text)); !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %s", text, r.stderr)
		}
	}
	if r := run(0, "stack", "ls"); !regexp.MustCompile(`(?m)^parcels +11$`).MatchString(r.stdout) ||
		strings.Contains(r.stdout, "other") {
		t.Errorf("ls:\n%s", r.stdout)
	}
	if r := run(0, "stack", "rm", "parcels"); counts(r, "deleted") != 11 {
		t.Errorf("rm:\n%s", r.stdout)
	}
	if r := run(0, "stack", "ls"); strings.Contains(r.stdout, "parcels") {
		t.Errorf("after rm:\n%s", r.stdout)
	}
	run(1, "stack", "rm", "parcels")
}

func TestADeploymentThatFailedIsGoneOnWith(t *testing.T) {
	env := stackDoors(t)
	path := filepath.Join(t.TempDir(), "template.yaml")
	deploy := func(memory string) result {
		t.Helper()
		if err := os.WriteFile(path, []byte(`Resources:
  Parcels: { Type: AWS::SQS::Queue, DeletionPolicy: Retain }
  Courier:
    Type: AWS::Lambda::Function
    DependsOn: Parcels
    Properties: { Runtime: python3, MemorySize: `+memory+`, Handler: index.handler, Code: { ZipFile: "def handler(e, c): return 1" } }
`), 0o644); err != nil {
			t.Fatal(err)
		}
		return hikyaku(t, "", env, "stack", "deploy", "half", path)
	}
	if r := deploy("1"); r.code != 1 || !strings.Contains(r.stderr, "deploy again") ||
		!regexp.MustCompile(`made +SQS::Queue +Parcels`).MatchString(r.stdout) {
		t.Errorf("less memory than there can be: %+v", r)
	}
	if r := deploy("128"); r.code != 0 || !regexp.MustCompile(`unchanged +SQS::Queue`).MatchString(r.stdout) {
		t.Errorf("deployed again: %+v", r)
	}
	r := hikyaku(t, "", env, "stack", "rm", "half")
	if r.code != 0 || !regexp.MustCompile(`kept +SQS::Queue`).MatchString(r.stdout) {
		t.Errorf("rm: %+v", r)
	}
}

func TestAPolicyThatTheTemplateHasNoMoreKeepsNothing(t *testing.T) {
	env := stackDoors(t)
	const text = `
Resources:
  Q: { Type: AWS::SQS::Queue%[1]s }
  F:
    Type: AWS::Lambda::Function
%[2]s
    Properties:
      Runtime: python3
      Handler: index.handler
      Role: arn:aws:iam::000000000000:role/r
      Code: { ZipFile: "def handler(event, context): pass" }
  M:
    Type: AWS::Lambda::EventSourceMapping
%[2]s
    Properties: { EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F }
`
	path := filepath.Join(t.TempDir(), "template.yaml")
	deploy := func(inline, line, want string) {
		t.Helper()
		if err := os.WriteFile(path, fmt.Appendf(nil, text, inline, line), 0o644); err != nil {
			t.Fatal(err)
		}
		r := hikyaku(t, "", env, "stack", "deploy", "s", path)
		if r.code != 0 || strings.Count("\n"+r.stdout, "\n"+want+" ") != 3 {
			t.Fatalf("status %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	deploy(", DeletionPolicy: Retain", "    DeletionPolicy: Retain", "made")
	deploy("", "", "changed")
	// By the policy of the last template nothing stays.
	if r := hikyaku(t, "", env, "stack", "rm", "s"); r.code != 0 || strings.Count("\n"+r.stdout, "\ndeleted ") != 3 {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
