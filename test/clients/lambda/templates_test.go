package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// tool makes a template of CloudFormation.
type tool struct {
	name     string
	function string
	// make runs it in a copy of templates and returns where the template is.
	make func(t *testing.T, folder, greeting string) string
}

// said runs a program in a folder.
func said(t *testing.T, folder string, env []string, command ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir, c.Env = folder, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v (scripts/need-clients installs it)\n%s", command, err, out)
	}
	return string(out)
}

func tools() []tool {
	return []tool{{
		name: "cdk", function: "cdk-courier:live",
		make: func(t *testing.T, folder, greeting string) string {
			said(t, folder, []string{"GREETING=" + greeting, "NODE_PATH=" + filepath.Join(built.Cache, "cdk",
				"node_modules")}, "node", "cdk/app.js", folder, filepath.Join(folder, "cdk.out"))
			return filepath.Join(folder, "cdk.out", "Parcels.template.json")
		},
	}, {
		name: "sam", function: "sam-courier:live",
		make: func(t *testing.T, folder, greeting string) string {
			template, err := os.ReadFile("templates/sam/template.yaml")
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, "sam.yaml"), []byte(strings.Replace(string(template), "HELLO",
					greeting, 1)), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			said(t, folder, []string{"PYTHONPATH=" + filepath.Join(built.Cache, "sam"), "AWS_DEFAULT_REGION=us-east-1"},
				"python3", "sam/translate.py", "sam.yaml", "sam.json")
			return filepath.Join(folder, "sam.json")
		},
	}, {
		name: "serverless", function: "serverless-courier",
		make: func(t *testing.T, folder, greeting string) string {
			here := filepath.Join(folder, "package")
			for from, to := range map[string]string{"code": here, "serverless": here} {
				if err := os.CopyFS(to, os.DirFS(filepath.Join(folder, from))); err != nil && !os.IsExist(err) {
					t.Fatal(err)
				}
			}
			said(t, here, []string{"GREETING=" + greeting, "SLS_TELEMETRY_DISABLED=1", "SLS_NOTIFICATIONS_MODE=off",
				"SLS_INTERACTIVE_SETUP_ENABLE=0", "HOME=" + folder}, "node", filepath.Join(built.Cache, "serverless",
				"node_modules", "serverless", "bin", "serverless.js"), "package", "--package", filepath.Join(folder,
				"out"))
			return filepath.Join(folder, "out", "cloudformation-template-update-stack.json")
		},
	}}
}

// What CDK, SAM's translator and Serverless make of an example is deployed, used, changed and removed.
func TestWhatCDKAndSAMAndServerlessMakeIsDeployed(t *testing.T) {
	t.Parallel()
	server := serve(t, objects(t), "")
	env := []string{"HIKYAKU_LAMBDA_URL=http://" + server.Door("lambda"),
		"HIKYAKU_SQS_URL=http://" + server.Door("sqs"), "HIKYAKU_URL=http://" + server.Door("http")}
	for _, tool := range tools() {
		t.Run(tool.name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(conformance.Folder(t), "here")
			if err := os.CopyFS(folder, os.DirFS("templates")); err != nil {
				t.Fatal(err)
			}
			hikyaku := func(args ...string) string {
				t.Helper()
				return said(t, folder, env, append([]string{built.Binary}, args...)...)
			}
			deploy := func(greeting string) string {
				t.Helper()
				return hikyaku("stack", "deploy", tool.name, tool.make(t, folder, greeting))
			}
			first := deploy("hello")
			queue := regexp.MustCompile(`made +SQS::Queue +Parcels\w* +(\S+)`).FindStringSubmatch(first)
			if queue == nil {
				t.Fatalf("no queue was made:\n%s", first)
			}
			if got := hikyaku("function", "invoke", tool.function); got != "\"hello courier\"\n" {
				t.Errorf("it says %s", got)
			}
			name, _, _ := strings.Cut(tool.function, ":")
			if tool.name == "sam" { // its mapping names the alias
				name = tool.function
			}
			c := exec.CommandContext(t.Context(), built.Binary, "publish", queue[1])
			c.Env, c.Stdin = append(os.Environ(), env...), strings.NewReader("a parcel\n")
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			waittest.Until(t, "the queue has fed the function", func() bool {
				c := exec.CommandContext(t.Context(), built.Binary, "function", "logs", name)
				c.Env = append(os.Environ(), env...)
				out, err := c.Output()
				return err == nil && strings.Contains(string(out), "hello courier a parcel")
			})
			if again := deploy("hello"); !strings.HasSuffix(again, "no changes\n") {
				t.Errorf("deployed again:\n%s", again)
			}
			if changed := deploy("hi"); !regexp.MustCompile(`changed +Lambda::Function`).MatchString(changed) ||
				!regexp.MustCompile(`unchanged +SQS::Queue`).MatchString(changed) {
				t.Errorf("changed:\n%s", changed)
			}
			if got := hikyaku("function", "invoke", tool.function); got != "\"hi courier\"\n" {
				t.Errorf("changed, it says %s", got)
			}
			hikyaku("stack", "rm", tool.name)
			if all := hikyaku("function", "ls"); strings.Contains(all, tool.name+"-courier") {
				t.Errorf("it is not removed:\n%s", all)
			}
		})
	}
}
