package lambda

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

func TestHowARuntimeChangesIsKeptForEachVersion(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	r.create("f", map[string]any{"Publish": true})
	r.ok(201, "POST", functions+"/f/aliases", `{"Name":"live","FunctionVersion":"1"}`)
	const of = "/2021-07-20/functions/f/runtime-management-config"
	const fixed = `"RuntimeVersionArn":"arn:aws:lambda:us-east-1::runtime:0123456789abcdef"`
	r.recorded(t, []recorded{
		{"GET", of, "", 200, []string{`"UpdateRuntimeOn":"Auto"`, `"FunctionArn":"ARN:$LATEST"`},
			[]string{"RuntimeVersionArn"}},
		{"PUT", of + "?Qualifier=1", `{"UpdateRuntimeOn":"Manual",` + fixed + `}`, 200,
			[]string{`"UpdateRuntimeOn":"Manual"`, `"FunctionArn":"ARN:1"`, fixed}, nil},
		{"PUT", of, `{"UpdateRuntimeOn":"FunctionUpdate"}`, 200, []string{`"FunctionArn":"ARN:$LATEST"`}, nil},
		{"PUT", of, `{"UpdateRuntimeOn":"Manual"}`, 400, []string{"with UpdateRuntimeOn Manual"}, nil},
		{"PUT", of + "?Qualifier=live", `{"UpdateRuntimeOn":"Auto"}`, 400, []string{"live is an alias"}, nil},
		{"PUT", of, `{"UpdateRuntimeOn":"Never"}`, 400,
			[]string{"Member must satisfy enum value set: [Auto, Manual, FunctionUpdate]"}, nil},
		{"PUT", "/2021-07-20/functions/none/runtime-management-config", `{"UpdateRuntimeOn":"Auto"}`, 404, nil, nil},
	})
	r.stop()
	r = openRig(t, dir, Config{}, nil)
	r.recorded(t, []recorded{
		{"GET", of, "", 200, []string{`"UpdateRuntimeOn":"FunctionUpdate"`}, nil},
		{"GET", of + "?Qualifier=1", "", 200, []string{`"UpdateRuntimeOn":"Manual"`, fixed}, nil},
	})
}

// TestWhatWasSaidOfAVersionIsForgottenWithIt: instances that are kept ready would count as reserved without end.
func TestWhatWasSaidOfAVersionIsForgottenWithIt(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"Publish": true})
	r.ok(202, "PUT", "/2019-09-30/functions/f/provisioned-concurrency?Qualifier=1",
		`{"ProvisionedConcurrentExecutions":1}`)
	r.ok(200, "PUT", "/2019-09-25/functions/f/event-invoke-config?Qualifier=1", `{"MaximumRetryAttempts":1}`)
	r.ok(201, "POST", functions+"/f/policy?Qualifier=1", `{"StatementId":"s","Action":"lambda:*","Principal":"*"}`)
	r.ok(200, "PUT", "/2021-07-20/functions/f/runtime-management-config?Qualifier=1",
		`{"UpdateRuntimeOn":"FunctionUpdate"}`)
	r.ok(204, "DELETE", functions+"/f?Qualifier=1", "")
	f, err := r.functions.Get("f")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Runtimes) + len(f.Provisioned) + len(f.Events) + len(f.Policies); n != 0 {
		t.Errorf("%d settings of a version that is gone are kept", n)
	}
}

func TestWhatIsSaidOfLoopsIsKept(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	r.create("f", nil)
	const of = "/2024-08-31/functions/f/recursion-config"
	r.recorded(t, []recorded{
		{"GET", of, "", 200, []string{`{"RecursiveLoop":"Allow"}`}, nil}, // loops are not noticed
		{"PUT", of, `{"RecursiveLoop":"Terminate"}`, 200, []string{`{"RecursiveLoop":"Terminate"}`}, nil},
		{"PUT", of, `{"RecursiveLoop":"Never"}`, 400, []string{"Value 'Never' at 'recursiveLoop' failed to satisfy " +
			"constraint: Member must satisfy enum value set: [Terminate, Allow]"}, nil},
	})
	r.stop()
	r = openRig(t, dir, Config{}, nil)
	r.recorded(t, []recorded{{"GET", of, "", 200, []string{`{"RecursiveLoop":"Terminate"}`}, nil}})
}

func TestProvisionedConcurrencyIsDatedByItsOwnChange(t *testing.T) {
	r := newRig(t)
	const at = "/2019-09-30/functions/f/provisioned-concurrency"
	r.create("f", map[string]any{"Publish": true})
	if _, err := r.functions.Change(t.Context(), "f", func(f *deployment.Function) error {
		f.Latest.Changed = f.Latest.Changed.AddDate(-1, 0, 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	year := time.Now().UTC().Format(`"LastModified":"2006`)
	r.recorded(t, []recorded{
		{"PUT", at + "?Qualifier=1", `{"ProvisionedConcurrentExecutions":1}`, 202, []string{year}, nil},
		{"GET", at + "?Qualifier=1", "", 200, []string{year}, nil},
		{"GET", at + "?List=ALL", "", 200, []string{year}, nil},
	})
}
