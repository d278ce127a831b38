package lambda

import (
	"regexp"
	"strings"
	"testing"
)

const arnOfF = "arn:aws:lambda:us-east-1:000000000000:function:f"

// A recorded call is one whose answer by the service is known. In its texts ARN stands for that of the function f.
type recorded struct {
	method, path, body string
	status             int
	has                []string // what the answer has in it
	not                []string // and what it has not
}

func (r *rig) recorded(t *testing.T, calls []recorded) {
	t.Helper()
	for _, c := range calls {
		g := r.call(c.method, c.path, c.body)
		if g.StatusCode != c.status {
			t.Errorf("%s %s %s: %d, not %d: %s", c.method, c.path, c.body, g.StatusCode, c.status, g.text)
			continue
		}
		for _, text := range c.has {
			if text = strings.ReplaceAll(text, "ARN", arnOfF); !strings.Contains(g.text, text) {
				t.Errorf("%s %s %s: %s\nhas not %s", c.method, c.path, c.body, g.text, text)
			}
		}
		for _, text := range c.not {
			if strings.Contains(g.text, text) {
				t.Errorf("%s %s %s: %s\nhas %s", c.method, c.path, c.body, g.text, text)
			}
		}
	}
}

func TestVersionsAreNamedAsTheServiceNamesThem(t *testing.T) {
	r := newRig(t)
	g := r.create("f", map[string]any{"Publish": true, "Description": "first"}).json(t)
	if g["FunctionArn"] != arnOfF || g["Version"] != "1" {
		t.Errorf("the answer to a function made with a version names %v, version %v", g["FunctionArn"], g["Version"])
	}
	f := functions + "/f"
	r.recorded(t, []recorded{
		{"POST", f + "/aliases", `{"Name":"live","FunctionVersion":"1"}`, 201, nil, nil},
		{"GET", f + "?Qualifier=live", "", 200, []string{`"FunctionArn":"ARN:live"`, `"Version":"1"`}, nil},
		{"GET", f + ":live", "", 200, []string{`"FunctionArn":"ARN:live"`}, nil},
		{"GET", f + "/configuration?Qualifier=live", "", 200, []string{`"FunctionArn":"ARN:live"`}, nil},
		{"GET", f + "?Qualifier=1", "", 200, []string{`"FunctionArn":"ARN:1"`, "RuntimeVersionConfig"}, nil},
		{"GET", f + "?Qualifier=$LATEST", "", 200, []string{`"FunctionArn":"ARN:$LATEST"`}, nil},
		{"GET", f + "/versions", "", 200, []string{`"FunctionArn":"ARN:$LATEST"`, `"FunctionArn":"ARN:1"`},
			[]string{"RuntimeVersionConfig"}},
		{"GET", functions, "", 200, []string{`"FunctionArn":"ARN"`}, []string{"RuntimeVersionConfig"}},
		// A description that is given makes no version, and does not change one that is there.
		{"POST", f + "/versions", `{"Description":"of its own"}`, 201, []string{`"Version":"1"`,
			`"Description":"first"`}, nil},
		{"PUT", f + "/configuration", `{"Description":"second"}`, 200, nil, nil},
		{"POST", f + "/versions", `{"Description":"of its own"}`, 201, []string{`"Version":"2"`,
			`"Description":"of its own"`}, nil},
		{"PUT", f + "/configuration", `{"Description":"third"}`, 200, nil, nil},
		{"POST", f + "/versions", "", 201, []string{`"Version":"3"`, `"Description":"third"`,
			`"FunctionArn":"ARN:3"`}, nil},
		{"POST", f + "/versions", `{"Description":"late"}`, 201, []string{`"Version":"3"`, `"Description":"third"`},
			nil},
		{"DELETE", f + "?Qualifier=live", "", 400, []string{"Deletion of aliases is not currently supported."}, nil},
	})
}

func TestURLsAreDescribedAsTheServiceDescribesThem(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const url = "/2021-10-31/functions/f/url"
	made := r.call("POST", url, `{"AuthType":"NONE"}`)
	got := r.call("GET", url, "")
	r.recorded(t, []recorded{
		{"PUT", url, `{"AuthType":"AWS_IAM"}`, 200, []string{"LastModifiedTime"}, []string{"InvokeMode", "null"}},
		{"PUT", url, `{"InvokeMode":"RESPONSE_STREAM"}`, 200, []string{`"InvokeMode":"RESPONSE_STREAM"`}, nil},
	})
	if strings.Contains(made.text, "InvokeMode") || strings.Contains(made.text, "LastModifiedTime") ||
		!strings.Contains(got.text, `"InvokeMode":"BUFFERED"`) {
		t.Errorf("made: %s\nasked for: %s", made.text, got.text)
	}
	form := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)
	for _, name := range []string{"CreationTime", "LastModifiedTime"} {
		if text, _ := got.json(t)[name].(string); !form.MatchString(text) {
			t.Errorf("%s is %q, not of microseconds", name, text)
		}
	}
}

func TestWhatIsMissingIsSaidInTheWordsOfEachCall(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	r.ok(201, "POST", functions+"/f/versions", "")
	const fn, none = functions + "/f", functions + "/none"
	const events, provisioned, url = "/2019-09-25/functions/", "/2019-09-30/functions/", "/2021-10-31/functions/"
	const noneARN = "arn:aws:lambda:us-east-1:000000000000:function:none"
	calls := []recorded{
		{"GET", none, "", 404, []string{"Function not found: " + noneARN + `"`}, nil},
		{"GET", none + "?Qualifier=$LATEST", "", 404, []string{"Function not found: " + noneARN + `:$LATEST"`}, nil},
		{"DELETE", none + "?Qualifier=7", "", 404, []string{"Function not found: " + noneARN + `"`}, nil},
		{"DELETE", fn + "?Qualifier=7", "", 204, nil, nil},
		{"POST", none + "/invocations", "{}", 404, []string{"Function not found: " + noneARN + `:$LATEST"`}, nil},
		{"PUT", "/2017-10-31/functions/none/concurrency", `{"ReservedConcurrentExecutions":1}`, 404,
			[]string{noneARN + `:$LATEST"`}, nil},
		{"PUT", "/2017-10-31/functions/f:1/concurrency", `{"ReservedConcurrentExecutions":1}`, 400,
			[]string{"This operation is permitted on Lambda functions only."}, nil},
		{"POST", none + "/aliases", `{"Name":"live","FunctionVersion":"1"}`, 404, []string{"Function not found: " +
			noneARN + `:1"`}, nil},
		{"GET", none + "/policy", "", 404, []string{noResource}, nil},
		{"DELETE", none + "/policy/s", "", 404, []string{"No policy found for: " + noneARN + `"`}, nil},
		{"DELETE", fn + "/policy/s", "", 404, []string{noPolicy}, nil},
		{"DELETE", fn + "/policy/s?Qualifier=live", "", 404, []string{"Cannot find alias arn: ARN:live"}, nil},
		{"GET", url + "none/url", "", 404, []string{noResource}, nil},
		{"DELETE", url + "none/url", "", 404, []string{noResource}, nil},
		{"POST", url + "none/url", `{"AuthType":"NONE"}`, 404, []string{noFunction}, nil},
		{"POST", url + "f/url?Qualifier=live", `{"AuthType":"NONE"}`, 404, []string{noFunction}, nil},
		{"GET", url + "none/urls", "", 404, []string{noFunction}, nil},
		{"PUT", events + "none/event-invoke-config", `{"MaximumRetryAttempts":1}`, 404, []string{noFunction2}, nil},
		{"PUT", events + "f/event-invoke-config", `{}`, 400,
			[]string{"You must specify at least one of error handling or destination setting."}, nil},
		{"GET", events + "none/event-invoke-config", "", 404, []string{noneARN +
			":$LATEST doesn't have an EventInvokeConfig"}, nil},
		{"POST", events + "f/event-invoke-config", `{"MaximumRetryAttempts":1}`, 404,
			[]string{"ARN:$LATEST doesn't have an EventInvokeConfig"}, nil},
		{"DELETE", events + "f/event-invoke-config", "", 404,
			[]string{"ARN:$LATEST doesn't have an EventInvokeConfig"}, nil},
		{"GET", events + "none/event-invoke-config/list", "", 404, []string{noFunction2}, nil},
		{"GET", provisioned + "none/provisioned-concurrency?Qualifier=live", "", 404,
			[]string{"Cannot find alias arn: " + noneARN + ":live"}, nil},
		{"GET", provisioned + "f/provisioned-concurrency?Qualifier=10", "", 404,
			[]string{"Function not found: ARN:10"}, nil},
		{"GET", provisioned + "f/provisioned-concurrency?Qualifier=1", "", 404,
			[]string{"No Provisioned Concurrency Config found"}, nil},
		{"GET", provisioned + "f/provisioned-concurrency?Qualifier=$LATEST", "", 400,
			[]string{"The function resource provided must be an alias or a published version."}, nil},
		{"PUT", provisioned + "f/provisioned-concurrency?Qualifier=1", `{"ProvisionedConcurrentExecutions":1001}`, 400,
			[]string{"is greater than account's unreserved concurrency [1000]."}, nil},
		{"POST", "/2015-03-31/event-source-mappings/", `{"FunctionName":"f"}`, 400,
			[]string{"Unrecognized event source."}, nil},
		{"DELETE", provisioned + "f/provisioned-concurrency?Qualifier=live", "", 404,
			[]string{"Cannot find alias arn: ARN:live"}, nil},
		{"GET", "/2017-03-31/tags/" + strings.Replace(arnOfF, "function:f", "event-source-mapping:", 1) +
			"11111111-1111-1111-1111-111111111111", "", 404,
			[]string{"Event source mapping not found: arn:aws:lambda:us-east-1:000000000000:event-source-mapping:1"},
			nil},
		{"POST", "/2015-03-31/event-source-mappings/",
			`{"EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:q","FunctionName":"none"}`, 400,
			[]string{noFunction}, nil},
	}
	r.recorded(t, calls)
}

func TestPermissionsAreWrittenAsTheServiceWritesThem(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const policy = functions + "/f/policy"
	r.recorded(t, []recorded{
		{"POST", policy, `{"StatementId":"a","Action":"lambda:InvokeFunction","Principal":"123456789012"}`, 201,
			[]string{`\"AWS\":\"arn:aws:iam::123456789012:root\"`}, nil},
		{"POST", policy,
			`{"StatementId":"b","Action":"lambda:InvokeFunction","Principal":"arn:aws:iam::123456789012:user/u"}`,
			201, []string{`\"AWS\":\"arn:aws:iam::123456789012:user/u\"`}, nil},
		{"POST", policy,
			`{"StatementId":"c","Action":"lambda:InvokeFunctionUrl","Principal":"*",` +
				`"PrincipalOrgID":"o-1234567890","FunctionUrlAuthType":"NONE"}`, 201,
			[]string{`\"aws:PrincipalOrgID\":\"o-1234567890\"`, `\"lambda:FunctionUrlAuthType\":\"NONE\"`}, nil},
		{"POST", policy,
			`{"StatementId":"v","Action":"lambda:InvokeFunction","Principal":"*","InvokedViaFunctionUrl":true}`, 201,
			[]string{`\"Condition\":{\"Bool\":{\"lambda:InvokedViaFunctionUrl\":\"true\"}}`}, nil},
		{"POST", policy,
			`{"StatementId":"w","Action":"lambda:InvokeFunction","Principal":"*","InvokedViaFunctionUrl":false}`, 201,
			nil, []string{"Condition"}},
		{"POST", policy, `{"StatementId":"d","Action":"lambda:InvokeFunction","Principal":"nobody.example.com"}`, 400,
			[]string{"The provided principal was invalid."}, nil},
		{"POST", policy + "?Qualifier=$LATEST",
			`{"StatementId":"d","Action":"lambda:InvokeFunction","Principal":"*"}`, 400,
			[]string{"We currently do not support adding policies for $LATEST."}, nil},
		{"POST", policy, `{"StatementId":"d","Action":"lambda:InvokeFunction","Principal":"*","RevisionId":"wrong"}`,
			412, []string{"Call the GetPolicy API to retrieve the latest Revision Id"}, nil},
		{"DELETE", policy + "/a?RevisionId=wrong", "", 412, nil, nil},
	})
	seen, _ := r.call("GET", policy, "").json(t)["RevisionId"].(string)
	r.ok(204, "DELETE", policy+"/a?RevisionId="+seen, "")
}

func TestDestinationsAreRefusedAsTheServiceRefusesThem(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const events = "/2019-09-25/functions/f/event-invoke-config"
	to := func(arn string) string { return `{"DestinationConfig":{"OnSuccess":{"Destination":"` + arn + `"}}}` }
	r.recorded(t, []recorded{
		{"PUT", events, to(arnOfF), 400, []string{"You can't specify the function as a destination for itself."}, nil},
		{"PUT", events, to("arn:aws:lambda:us-east-1:000000000000:function:none"), 400,
			[]string{"arn:aws:lambda:us-east-1:000000000000:function:none is invalid."}, nil},
		{"PUT", events, to("arn:aws:iam:us-east-1:000000000000:function:f"), 400,
			[]string{"The provided destination config DestinationConfig(onSuccess=OnSuccess(" +
				"destination=arn:aws:iam:us-east-1:000000000000:function:f), onFailure=null) is invalid."}, nil},
		{"PUT", events, to("arn:aws:sqs:us-east-1:000000000000:done"), 200, []string{"done"}, nil},
	})
}

func TestALogIsDescribedWhole(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"LoggingConfig": map[string]any{"LogFormat": "JSON", "SystemLogLevel": "DEBUG"}})
	const at = functions + "/f/configuration"
	r.recorded(t, []recorded{
		{"GET", at, "", 200,
			[]string{`"LoggingConfig":{"LogFormat":"JSON","ApplicationLogLevel":"INFO",` +
				`"SystemLogLevel":"DEBUG","LogGroup":"/aws/lambda/f"}`}, nil},
		{"PUT", at, `{"LoggingConfig":{"LogGroup":"mine"}}`, 200,
			[]string{`"LoggingConfig":{"LogFormat":"JSON","ApplicationLogLevel":"INFO",` +
				`"SystemLogLevel":"DEBUG","LogGroup":"mine"}`}, nil},
		{"PUT", at, `{"LoggingConfig":{"LogFormat":"Text"}}`, 200,
			[]string{`"LoggingConfig":{"LogFormat":"Text","LogGroup":"mine"}`}, nil},
		{"PUT", at, `{"LoggingConfig":{"LogFormat":"JSON","ApplicationLogLevel":"DEBUG"}}`, 200,
			[]string{`"LoggingConfig":{"LogFormat":"JSON","ApplicationLogLevel":"DEBUG",` +
				`"SystemLogLevel":"INFO","LogGroup":"mine"}`}, nil},
	})
}
