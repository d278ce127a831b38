package mysql

import "testing"

// TestDocumentsAreHeldAgainstSchemas of JSON, and their size is MySQL's.
func TestDocumentsAreHeldAgainstSchemas(t *testing.T) {
	c := oddTable(t).connect("")
	const point = `{"type":"object","properties":{"x":{"type":"number","minimum":-90,"maximum":90},` +
		`"y":{"$ref":"#/properties/x"}},"required":["x"],"additionalProperties":false}`
	valid := func(schema, document string) string { return "JSON_SCHEMA_VALID('" + schema + "', '" + document + "')" }
	answers(t, c, "k", map[string]string{
		valid(point, `{"x": 63.4, "y": 10}`): "1", valid(point, `{"y": 10}`): "0", valid(point, `{"x": 91}`): "0",
		valid(point, `{"x": 1, "z": 1}`): "0", valid(point, `{"x": 1, "y": -91}`): "0", valid(point, `[1]`): "0",
		valid(`{"items":{"type":"integer"},"uniqueItems":true,"maxItems":3}`, `[1, 2.0, 3]`):               "1",
		valid(`{"items":{"type":"integer"},"uniqueItems":true}`, `[1, 2, 1]`):                              "0",
		valid(`{"items":{"type":"integer"}}`, `[1, "2"]`):                                                  "0",
		valid(`{"items":[{},{}],"additionalItems":false}`, `[1, 2, 3]`):                                    "0",
		valid(`{"pattern":"^a+$","minLength":2}`, `"aa"`):                                                  "1",
		valid(`{"pattern":"^a+$","minLength":2}`, `"a"`):                                                   "0",
		valid(`{"pattern":"^a+$"}`, `"ab"`):                                                                "0",
		valid(`{"oneOf":[{"type":"string"},{"enum":[1, null]}]}`, `null`):                                  "1",
		valid(`{"anyOf":[{"type":"string"},{"minimum":5}],"not":{"enum":["no"]}}`, `"no"`):                 "0",
		valid(`{"dependencies":{"a":["b"]},"patternProperties":{"^n":{"multipleOf":0.1}}}`, `{"n1": 0.3}`): "1",
		valid(`{"dependencies":{"a":["b"]}}`, `{"a": 1}`):                                                  "0",
		valid(`{"minimum":3,"exclusiveMinimum":true}`, `3`):                                                "0",
		"JSON_SCHEMA_VALID(n, '1')":                                                                        "", "JSON_SCHEMA_VALIDATION_REPORT('{}', '1')": `{"valid": true}`,
		"JSON_EXTRACT(JSON_SCHEMA_VALIDATION_REPORT('" + point + "', '{}'), '$.\"schema-failed-keyword\"')": `"required"`,
		"JSON_STORAGE_SIZE('[100, \"sakila\", [1, 3, 5], 425.05]')":                                         "45",
		"JSON_STORAGE_SIZE('{\"a\": 1000, \"b\": \"wxyz\", \"c\": \"[1, 3, 5, 7]\"}')":                      "47",
		"JSON_STORAGE_SIZE(n)": "", "JSON_STORAGE_FREE(j)": "0",
	})
	for statement, want := range map[string]int{
		"SELECT JSON_SCHEMA_VALID('[]', '1')":                               3853,
		"SELECT JSON_SCHEMA_VALID('{', '1')":                                3141,
		"SELECT JSON_SCHEMA_VALID(3, '1')":                                  3146,
		`SELECT JSON_SCHEMA_VALID('{"$ref":"#"}', '1')`:                     3157,
		`SELECT JSON_SCHEMA_VALID('{"$ref":"file:///etc/x"}', '1')`:         1235,
		"SELECT JSON_SCHEMA_VALID('{}')":                                    1582,
		`SELECT JSON_SCHEMA_VALID('{"pattern":"a{900}"}', '"` + "a" + `"')`: 0,
	} {
		if number, _ := ask(t, c, statement); number != want {
			t.Errorf("%s: error %d, want %d", statement, number, want)
		}
	}
}
