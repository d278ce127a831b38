package lambda

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const signings = "/2020-04-22/code-signing-configs"

// newSigning makes a code signing configuration and returns its ARN and the path of it.
func (r *rig) newSigning(t *testing.T, more string) (arn, path string) {
	t.Helper()
	var out struct {
		CodeSigningConfig struct{ CodeSigningConfigArn string }
	}
	g := r.ok(201, "POST", signings+"/", `{"AllowedPublishers":{"SigningProfileVersionArns":[`+
		`"arn:aws:signer:us-east-1:000000000000:/signing-profiles/p/v"]}`+more+`}`)
	if err := json.Unmarshal([]byte(g.text), &out); err != nil {
		t.Fatal(err)
	}
	arn = out.CodeSigningConfig.CodeSigningConfigArn
	return arn, signings + "/" + url.PathEscape(arn)
}

// Tools that keep state read a code signing configuration again, and find the functions that have it.
func TestACodeSigningConfigurationIsKeptForWhoReadsItAgain(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	r.create("f", nil)
	arn, at := r.newSigning(t, `,"Description":"ours","Tags":{"team":"couriers"}`)
	const of = "/2020-06-30/functions/f/code-signing-config"
	r.recorded(t, []recorded{
		{"GET", at, "", 200, []string{arn, `"Description":"ours"`, `"UntrustedArtifactOnDeployment":"Warn"`,
			"/signing-profiles/p/v"}, nil},
		{"PUT", at, `{"CodeSigningPolicies":{"UntrustedArtifactOnDeployment":"Enforce"}}`, 200,
			[]string{`"UntrustedArtifactOnDeployment":"Enforce"`, `"Description":"ours"`}, nil},
		{"GET", of, "", 200, nil, []string{"CodeSigningConfigArn", "FunctionName"}},
		{"PUT", of, `{"CodeSigningConfigArn":"` + arn + `"}`, 200, []string{arn, `"FunctionName":"f"`}, nil},
		{"DELETE", at, "", 409, []string{"f: take it from them first"}, nil},
	})
	r.stop()
	r = openRig(t, dir, Config{}, nil)
	r.recorded(t, []recorded{
		{"GET", of, "", 200, []string{arn, `"FunctionName":"f"`}, nil},
		{"GET", at + "/functions", "", 200, []string{`"FunctionArns":["ARN"]`}, nil},
		{"GET", signings + "/", "", 200, []string{arn, `"UntrustedArtifactOnDeployment":"Enforce"`}, nil},
		{"GET", tagsOf(arn), "", 200, []string{`"team":"couriers"`}, nil},
		{"DELETE", of, "", 204, nil, nil},
		{"DELETE", of, "", 204, nil, nil},
		{"GET", at + "/functions", "", 200, []string{`"FunctionArns":[]`}, nil},
		{"DELETE", at, "", 204, nil, nil},
		{"GET", at, "", 404, []string{"The Lambda code signing configuration " + arn + " can not be found."},
			[]string{`"Type"`}},
	})
}

func TestACodeSigningConfigurationThatIsNotThereIsSaidInTheServicesWords(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	arn, _ := r.newSigning(t, "")
	gone := strings.Replace(arn, "csc-", "csc-0", 1)[:len(arn)] // no id of ours has a 0
	none := "The Lambda code signing configuration " + gone + " can not be found."
	const noFn = "Function not found: arn:aws:lambda:us-east-1:000000000000:function:none\""
	const of = "/2020-06-30/functions/"
	r.recorded(t, []recorded{
		{"PUT", signings + "/" + gone, `{}`, 404, []string{none}, nil},
		{"DELETE", signings + "/" + gone, "", 404, []string{none}, nil},
		{"GET", signings + "/" + gone + "/functions", "", 404, []string{none}, nil},
		{"GET", of + "none/code-signing-config", "", 404, []string{noFn}, nil},
		{"DELETE", of + "none/code-signing-config", "", 404, []string{noFn}, nil},
		{"PUT", of + "none/code-signing-config", `{"CodeSigningConfigArn":"` + arn + `"}`, 404, []string{noFn}, nil},
		{"PUT", of + "none/code-signing-config", `{"CodeSigningConfigArn":"` + gone + `"}`, 404,
			[]string{"Check that the provided configuration is not deleted: " + gone + "."}, nil},
		{"POST", signings, `{}`, 400, []string{"Value null at 'allowedPublishers'"}, nil},
	})
}

// Terraform and CloudFormation say it when they make the function.
func TestAFunctionIsMadeWithItsCodeSigningConfiguration(t *testing.T) {
	r := newRig(t)
	arn, at := r.newSigning(t, "")
	r.create("f", map[string]any{"CodeSigningConfigArn": arn})
	r.recorded(t, []recorded{
		{"GET", "/2020-06-30/functions/f/code-signing-config", "", 200, []string{arn, `"FunctionName":"f"`}, nil},
		{"GET", at + "/functions", "", 200, []string{`"FunctionArns":["ARN"]`}, nil},
	})
	gone := strings.Replace(arn, "csc-", "csc-0", 1)[:len(arn)] // no id of ours has a 0
	made := func(name, signing string) string {
		return `{"FunctionName":"` + name + `","Runtime":"python3.11","Handler":"app.handler","Role":"` +
			`arn:aws:iam::000000000000:role/any","Code":{"ZipFile":"` +
			base64.StdEncoding.EncodeToString(packed(t, "app.py", program)) + `"},"CodeSigningConfigArn":"` +
			signing + `"}`
	}
	r.recorded(t, []recorded{
		{"POST", functions, made("g", gone), 404, []string{"Check that the provided configuration is not deleted: " +
			gone + "."}, nil},
		{"POST", functions, made("g", "csc"), 400, []string{"'codeSigningConfigArn'"}, nil},
		{"GET", functions + "/g", "", 404, nil, nil},
	})
}
