package lambda

import (
	"strings"
	"testing"
)

func TestRequestsAreHeldToTheModelAndAllProblemsTold(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const failed = " failed to satisfy constraint: "
	const digits = `pattern: ((?!^\\d+$)^[0-9a-zA-Z-_]+$)`
	long := strings.Repeat("a", 129)
	r.recorded(t, []recorded{
		{"GET", functions + "/arn:aws:lambda:nowhere:000000000000:function:f?Qualifier=" + long, "", 400,
			[]string{"2 validation errors detected: ", "'functionName'" + failed, "; Value '" + long +
				"' at 'qualifier'" + failed}, nil},
		{"GET", functions + "/f?Qualifier=invalid!", "", 400, []string{"'invalid!' at 'qualifier'" + failed}, nil},
		{"POST", functions + "/x:function:f/invocations", "{}", 400, []string{"'x:function:f' at 'functionName'" +
			failed}, nil},
		{"POST", functions + "/f:1:2/invocations", "{}", 400, []string{"'f:1:2' at 'functionName'" + failed}, nil},
		{"POST", functions + "/f/invocations?Qualifier=a!", "{}", 400, []string{"'a!' at 'qualifier'" + failed}, nil},
		{"GET", functions + "/" + long[:65], "", 404,
			[]string{"Function not found: arn:aws:lambda:us-east-1:000000000000:function:" + long[:65] + `"`}, nil},
		{"GET", functions + "/arn:aws:lambda:us-east-1:000000000000:function", "", 404,
			[]string{":function:function\""}, nil},
		{"POST", functions, `{"FunctionName":"` + long[:65] + `","Code":{"ZipFile":""}}`, 400,
			[]string{"at 'functionName'" + failed + "Member must have length less than or equal to 64"}, nil},
		{"POST", functions, `{"Timeout":0,"MemorySize":1}`, 400,
			[]string{"4 validation errors detected: Value null at 'functionName'" + failed +
				"Member must not be null; Value null at 'code'", "'0' at 'timeout'", "'1' at 'memorySize'"}, nil},
		{"POST", functions, `{"FunctionName":"g","Code":{"ZipFile":"AA=="},"SnapStart":{"ApplyOn":"Always"}}`, 400,
			[]string{"'Always' at 'snapStart.applyOn'" + failed}, nil},
		{"PUT", functions + "/f/configuration", `{"Timeout":"5"}`, 400,
			[]string{"STRING_VALUE can not be converted to an Integer"}, nil},
		{"PUT", functions + "/f/configuration", `{"TracingConfig":5}`, 400, []string{"Unexpected field type"}, nil},
		{"PUT", functions + "/f/configuration", `{"Environment":{"Variables":{"LARGE_VAR":"` + strings.Repeat("x",
			4081) + `"}}}`, 400,
			[]string{"exceeded the 4KB limit"}, nil},
		{"PUT", functions + "/f/code", `{"ZipFile":"%"}`, 400, []string{"cannot be read"}, nil},
		{"POST", functions + "/f/aliases", `{"Name":"2024","FunctionVersion":"$LATEST"}`, 400,
			[]string{`pattern: (?!^[0-9]+$)([a-zA-Z0-9-_]+)`}, nil},
		{"POST", functions + "/f/aliases",
			`{"Name":"a","FunctionVersion":"1","RoutingConfig":{"AdditionalVersionWeights":{"2":2}}}`, 400,
			[]string{"'{2=2.0}' at 'routingConfig.additionalVersionWeights'" + failed +
				"Map value must satisfy constraint: ["}, nil},
		{"GET", functions + "?FunctionVersion=NONE", "", 400, []string{"'functionVersion'" + failed +
			"Member must satisfy enum value set: [ALL]"}, nil},
		{"GET", functions + "?MaxItems=0", "", 400, []string{"'0' at 'maxItems'"}, nil},
		{"GET", "/2021-10-31/functions/f/url?Qualifier=1", "", 400, []string{digits}, nil},
		{"GET", "/2021-10-31/functions/f/url?Qualifier=$LATEST", "", 400, []string{digits}, nil},
		{"POST", "/2021-10-31/functions/f/url", `{"AuthType":"SOME"}`, 400, []string{"'SOME' at 'authType'" + failed},
			nil},
		{"PUT", "/2019-09-30/functions/f/provisioned-concurrency?Qualifier=1",
			`{"ProvisionedConcurrentExecutions":0}`, 400, []string{"'0' at 'provisionedConcurrentExecutions'"}, nil},
		{"POST", functions + "/f/policy",
			`{"StatementId":"example.com","Action":"lambda:InvokeFunction","Principal":"*"}`, 400,
			[]string{"'example.com' at 'statementId'"}, nil},
		{"POST", "/2018-10-31/layers/l/versions",
			`{"Content":{"ZipFile":"AA=="},"CompatibleRuntimes":["cobol"],"CompatibleArchitectures":["vax"]}`, 400,
			[]string{"2 validation errors detected: Value '[cobol]' at 'compatibleRuntimes'",
				"; Value '[vax]' at 'compatibleArchitectures'"}, nil},
		{"GET", "/2017-03-31/tags/arn:aws:lambda:us-east-1:000000000000:foobar:x", "", 400, []string{"at 'resource'" +
			failed}, nil},
	})
	g := r.call("POST", functions+"/f/invocations", "{}", "X-Amz-Invocation-Type", "Later")
	if g.StatusCode != 400 || g.Header.Get("X-Amzn-Errortype") != "ValidationException" || !strings.Contains(g.text,
		"at 'invocationType'") {
		t.Errorf("another type of invocation: %s %s", g.Status, g.text)
	}
	if g := r.call("PUT", functions+"/f/configuration",
		`{"Timeout":"5"}`); g.Header.Get("X-Amzn-Errortype") != "SerializationException" {
		t.Errorf("another type of value: %s %s", g.Header.Get("X-Amzn-Errortype"), g.text)
	}
}
