package lambda

import (
	"encoding/base64"
	"testing"
)

func TestRuntimesAreRefusedInTheServicesWords(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	content := base64.StdEncoding.EncodeToString(packed(t, "a", ""))
	const text = " at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: [nodejs20.x, "
	r.recorded(t, []recorded{
		{"PUT", functions + "/f/configuration", `{"Runtime":"cobol"}`, 400, []string{"Value cobol" + text,
			"hikyaku knows provided, go, java"}, nil},
		{"PUT", functions + "/f/configuration", `{"Runtime":"PYTHON3.11"}`, 400, []string{"Value PYTHON3.11" + text},
			nil},
		{"PUT", functions + "/f/configuration", `{"Runtime":"ruby2.7"}`, 400, []string{"The runtime parameter of " +
			"ruby2.7 is no longer supported for creating or updating AWS Lambda functions."}, nil},
		{"POST", layersPath + "/l/versions", `{"Content":{"ZipFile":"` + content + `"},` +
			`"CompatibleRuntimes":["java8","dotnetcore3.1","go1.x","ruby2.7","ruby4.0"]}`, 201, []string{"dotnetcore3.1"}, nil},
	})
}
