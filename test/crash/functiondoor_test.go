//go:build linux

package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// administers are calls of the Lambda door that deploy, change, show, run and remove functions.
var administers = [][3]string{
	{"GET", "/2015-03-31/functions", ""},
	{"GET", "/2015-03-31/functions/other", ""},
	{"POST", "/2015-03-31/functions", `{"FunctionName":"new","Runtime":"provided.al2023","Handler":"x",` +
		`"Role":"arn:aws:iam::000000000000:role/x","Code":{"ZipFile":"UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="}}`},
	{"PUT", "/2015-03-31/functions/other/code", `{"ZipFile":"UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="}`},
	{"PUT", "/2015-03-31/functions/other/configuration", `{"Timeout":7}`},
	{"POST", "/2015-03-31/functions/other/invocations", `{}`},
	{"POST", "/2021-10-31/functions/other/url", `{"AuthType":"NONE"}`},
	{"DELETE", "/2015-03-31/functions/other", ""},
}

// unsigned and forged are the headers of a function without credentials, and of one that makes some up.
var (
	unsigned = map[string]string{"Content-Type": "application/json"}
	forged   = map[string]string{"Content-Type": "application/json", "X-Amz-Date": "20260102T030405Z",
		"Authorization": "AWS4-HMAC-SHA256 Credential=boss/20260102/us-east-1/lambda/aws4_request, " +
			"SignedHeaders=host;x-amz-date, Signature=" + strings.Repeat("0", 64)}
)

// asBefore is the line of the function that the calls are about while none has done anything to it.
var asBefore = regexp.MustCompile(`(?m)^other +provided.al2023 +0 running +0 +0 +0 +128 MB`)

// TestAnIsolatedFunctionAdministersNoFunctions: neither where there are no users, since it is another account, nor with
// users, whose secrets it does not have.
func TestAnIsolatedFunctionAdministersNoFunctions(t *testing.T) {
	t.Parallel()
	for name, users := range map[string]string{
		"without users": "",
		"with users":    "users: { boss: { secret: boss-secret, grants: [{ can: [put, take, admin], on: ['*'] }] } }\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if users == "" && os.Geteuid() != 0 {
				t.Log("its functions are this account's own, which may administer without users")
				return
			}
			door, owner := withCaller(t, users)
			if owner == nil {
				return
			}
			for _, c := range administers {
				for _, header := range []map[string]string{unsigned, forged} {
					event, err := json.Marshal(map[string]any{"method": c[0], "url": door + c[1], "body": c[2],
						"header": header})
					if err != nil {
						t.Fatal(err)
					}
					var got struct {
						Status      int
						Body, Error string
					}
					if err := json.Unmarshal([]byte(owner("invoke", "caller", "--payload", string(event))),
						&got); err != nil {
						t.Fatal(err)
					}
					if got.Status != http.StatusForbidden {
						t.Errorf("%s %s of a function: %+v", c[0], c[1], got)
					}
				}
			}
			list := owner("ls")
			if !asBefore.MatchString(list) || strings.Contains(list, "\nnew ") {
				t.Errorf("the functions are\n%s", list)
			}
		})
	}
}

// withCaller serves two isolated functions, of which one makes requests, and returns the address of the Lambda door and
// what the owner's commands print. owner is nil where functions cannot be isolated.
func withCaller(t *testing.T, users string) (door string, owner func(args ...string) string) {
	t.Helper()
	here := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(here, "code", "bootstrap"),
		"./testdata/caller")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the function: %v\n%s", err, out)
	}
	secret := filepath.Join(here, "secret")
	write(t, secret, "boss-secret\n")
	code := filepath.Join(here, "code")
	s, err := tryServe(t, binary, fmt.Sprintf(`data_dir: %s
api:
  http: { listen: 127.0.0.1:0 }
  lambda: { listen: 127.0.0.1:0, isolation: full }
  mysql: { off: true }
  pubsub: { off: true }
  sqs: { off: true }
functions:
  caller: { runtime: provided.al2023, handler: x, code: %s }
  other: { runtime: provided.al2023, handler: x, code: %s }
%s`, filepath.Join(here, "data"), code, code, users))
	if err != nil && strings.Contains(err.Error(), "isolation") {
		t.Log("functions cannot be isolated here:", err)
		return "", nil
	}
	if err != nil {
		t.Fatal(err)
	}
	door = "http://" + s.address(t, "lambda")
	owner = func(args ...string) string {
		t.Helper()
		args = append([]string{"function"}, append(args, "--url", door)...)
		if users != "" {
			args = append(args, "--user", "boss", "--secret-file", secret)
		}
		r := hikyaku(t, "", args...)
		if r.code != 0 {
			t.Fatalf("%q: %+v\n%s", args, r, s.log())
		}
		return r.stdout
	}
	return door, owner
}

// TestDeploymentIsRefusedWhereIsolationMustBeWholeAndIsNot serves in a namespace of users that permits no other
// namespaces of files, as hosts do that are strict. Who has users has to say that functions need not be kept apart.
func TestDeploymentIsRefusedWhereIsolationMustBeWholeAndIsNot(t *testing.T) {
	here := t.TempDir()
	program, code := filepath.Join(here, "strict"), filepath.Join(here, "code", "bootstrap")
	if err := os.Mkdir(filepath.Dir(code), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{code: "#!/bin/sh\n", program: "#!/bin/sh\nexec unshare -Ur sh -c " +
		`'echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$0" "$@"' ` + binary + ` "$@"` + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(here, "secret")
	write(t, secret, "boss-secret\n")
	for _, c := range []struct {
		says             string // by the start
		settings         string
		refused, listing string
	}{
		{"functions are refused: this machine cannot isolate them", "",
			"functions cannot be isolated on this machine: missing: a room of its own",
			"\nFunctions are not isolated. Missing: a room of its own"},
		{"", ", isolation: none", "", "\nFunctions are not isolated. Missing: all of it: it is switched off.\n"},
	} {
		s, err := tryServe(t, program, fmt.Sprintf(`data_dir: %s
api:
  http: { listen: 127.0.0.1:0 }
  lambda: { listen: 127.0.0.1:0%s }
  mysql: { off: true }
  pubsub: { off: true }
  sqs: { off: true }
users: [{ name: boss, secret: boss-secret, grants: [{ can: [admin], on: ['*'] }] }]
`, filepath.Join(here, "data"), c.settings))
		if err != nil {
			t.Fatal(err)
		}
		remote := []string{"--url", "http://" + s.address(t, "lambda"), "--user", "boss", "--secret-file", secret}
		deploy := hikyaku(t, "", append([]string{"function", "deploy", "f", "--runtime", "provided.al2023", "--code",
			filepath.Dir(code)}, remote...)...)
		if (deploy.code != 0) != (c.refused != "") || !strings.Contains(deploy.stderr, c.refused) ||
			c.refused != "" && !strings.Contains(deploy.stderr, "api: lambda: isolation: none") {
			t.Errorf("with %q the function is deployed: %+v", c.settings, deploy)
		}
		if list := hikyaku(t, "", append([]string{"function", "ls"}, remote...)...); list.code != 0 ||
			!strings.Contains(list.stdout, c.listing) || strings.Contains(list.stdout, "\nf ") != (c.refused == "") {
			t.Errorf("with %q the functions are %+v", c.settings, list)
		}
		until(t, s.log, func() bool { return strings.Contains(s.log(), c.says) }) // while the doors are open
		s.kill()
	}
}
