package lambda

import (
	"encoding/base64"
	"net/http"
	"testing"
)

// TestWhatNothingStandsBehindIsRefused: a member that the service would heed and this door cannot.
func TestWhatNothingStandsBehindIsRefused(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const refused, at = "hikyaku does not do this: ", functions + "/f"
	zip := `"ZipFile":"` + base64.StdEncoding.EncodeToString(packed(t, "a", "")) + `"`
	made := `{"FunctionName":"g","Role":"arn:aws:iam::000000000000:role/r","Runtime":"provided.al2023","Handler":"x",` +
		`"Code":{` + zip + `},`
	answers := []recorded{
		{"POST", functions, made + `"PublishTo":"LATEST_PUBLISHED"}`, 400, []string{refused + "PublishTo: "}, nil},
		{"PUT", at + "/code", `{` + zip + `,"PublishTo":"LATEST_PUBLISHED"}`, 400, []string{refused + "PublishTo: "},
			nil},
		{"POST", at + "/versions", `{"PublishTo":"LATEST_PUBLISHED"}`, 400, []string{refused + "PublishTo: "}, nil},
		{"PUT", at + "/code", `{"S3Bucket":"abc","S3Key":"k","S3ObjectStorageMode":"REFERENCE"}`, 400,
			[]string{refused + "S3ObjectStorageMode REFERENCE: "}, nil},
		{"PUT", at + "/configuration", `{"TenancyConfig":{"TenantIsolationMode":"NONE"}}`, 400, []string{
			"Value 'NONE' at 'tenancyConfig.tenantIsolationMode' failed to satisfy constraint: Member must satisfy enum " +
				"value set: [PER_TENANT]"}, nil},
		{"PUT", at + "/configuration", `{"ImageConfig":{}}`, 200, nil, nil},
	}
	for _, member := range []string{
		`"TenancyConfig":{"TenantIsolationMode":"PER_TENANT"}`, `"DurableConfig":{}`,
		`"AcceleratorConfig":{"AcceleratorMemorySize":1}`, `"ImageConfig":{"Command":["x"]}`,
	} {
		answers = append(answers,
			recorded{"POST", functions, made + member + `}`, 400, []string{refused}, nil},
			recorded{"PUT", at + "/configuration", `{` + member + `}`, 400, []string{refused}, nil})
	}
	r.recorded(t, answers)
	for header, value := range map[string]string{"X-Amz-Tenant-Id": "blue", "X-Amz-Durable-Execution-Name": "e"} {
		for _, path := range []string{"/invocations", "/response-streaming-invocations"} {
			if got := r.call("POST", at+path, `{}`, header, value); got.StatusCode != http.StatusBadRequest {
				t.Errorf("%s with %s: %s %s", path, header, got.Status, got.text)
			}
		}
	}
}

// TestTheKeyOfAnArchiveIsShownWithItsCode, and is forgotten with it.
func TestTheKeyOfAnArchiveIsShownWithItsCode(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	zip := `"ZipFile":"` + base64.StdEncoding.EncodeToString(packed(t, "a", "")) + `"`
	const key = "arn:aws:kms:us-east-1:000000000000:key/k"
	for _, want := range []string{key, ""} {
		body := `{` + zip + `}`
		if want != "" {
			body = `{` + zip + `,"SourceKMSKeyArn":"` + want + `"}`
		}
		if _, ok := r.ok(200, "PUT", functions+"/f/code", body).json(t)["SourceKMSKeyArn"]; ok {
			t.Error("it is shown with the settings")
		}
		code, _ := r.ok(200, "GET", functions+"/f", "").json(t)["Code"].(map[string]any)
		if got, _ := code["SourceKMSKeyArn"].(string); got != want {
			t.Errorf("%q is shown, wanted %q", got, want)
		}
	}
}
