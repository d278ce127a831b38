package shape_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
)

// function has a member of each kind.
var function = shape.Struct(
	shape.Must("Name", shape.String(1, 4, shape.Form(`[a-z]+`))),
	shape.May("Timeout", shape.Integer(1, 900)),
	shape.May("Publish", shape.Bool()),
	shape.May("Code", shape.Struct(shape.May("ZipFile", shape.Blob()), shape.May("KMSKeyArn", shape.String(1, 9,
		nil)))),
	shape.May("Architectures", shape.List(1, 1, shape.Enum("x86_64", "arm64"))),
	shape.May("Runtimes", shape.List(0, 2, shape.Open(func(s string) bool { return s == "odd" }, "java21"))),
	shape.May("Weights", shape.Map(shape.String(1, 1024, shape.Form(`[0-9]+`)), shape.Ratio(0, 1))),
	shape.May("Filters", shape.List(0, 3, shape.Struct(shape.May("Pattern", shape.String(0, 3, nil))))),
	shape.May("More", shape.Anything()),
)

func check(body string) error {
	var p shape.Problems
	p.Check(function, []byte(body))
	return p.Err()
}

func TestProblemsAreSaidInTheServicesWords(t *testing.T) {
	const one, failed = "1 validation error detected: Value ", " failed to satisfy constraint: "
	for body, want := range map[string]string{
		`{"Name":"a","More":[{"x":null}],"Unknown":{"Name":5}}`: "",
		`{"Name":"a","Timeout":null,"Runtimes":["odd"]}`:        "",
		``:              one + "null at 'name'" + failed + "Member must not be null",
		`{"Name":null}`: one + "null at 'name'" + failed + "Member must not be null",
		`{"Name":""}`: "2 validation errors detected: Value '' at 'name'" + failed +
			"Member must have length greater than or equal to 1; Value '' at 'name'" + failed +
			"Member must satisfy regular expression pattern: [a-z]+",
		`{"Name":"A"}`: one + "'A' at 'name'" + failed +
			"Member must satisfy regular expression pattern: [a-z]+",
		`{"name":"A"}`: one + "'A' at 'name'" + failed +
			"Member must satisfy regular expression pattern: [a-z]+",
		`{"Name":"飛脚"}`: one + "'飛脚' at 'name'" + failed +
			"Member must satisfy regular expression pattern: [a-z]+",
		`{"Name":"a","Timeout":901}`: one + "'901' at 'timeout'" + failed +
			"Member must have value less than or equal to 900",
		`{"Name":"a","TIMEOUT":0}`: one + "'0' at 'timeout'" + failed +
			"Member must have value greater than or equal to 1",
		`{"Name":"a","Code":{"KMSKeyArn":""}}`: one + "'' at 'code.kMSKeyArn'" + failed +
			"Member must have length greater than or equal to 1",
		`{"Name":"a","Architectures":["x86_64","arm64"]}`: one + "'[x86_64, arm64]' at 'architectures'" + failed +
			"Member must have length less than or equal to 1",
		`{"Name":"a","Architectures":["vax"]}`: one + "'[vax]' at 'architectures'" + failed +
			"Member must satisfy constraint: [Member must satisfy enum value set: [x86_64, arm64], Member must not " +
			"be null]",
		`{"Name":"a","Runtimes":["cobol","odd"]}`: one + "'[cobol, odd]' at 'runtimes'" + failed +
			"Member must satisfy enum value set: [java21]",
		`{"Name":"a","Weights":{"2":2}}`: one + "'{2=2.0}' at 'weights'" + failed +
			"Map value must satisfy constraint: [Member must have value less than or equal to 1.0, Member must have " +
			"value greater than or equal to 0.0, Member must not be null]",
		`{"Name":"a","Weights":{"$LATEST":0.5}}`: one + "'{$LATEST=0.5}' at 'weights'" + failed +
			"Map keys must satisfy constraint: [Member must have length less than or equal to 1024, Member must have " +
			"length greater than or equal to 1, Member must satisfy regular expression pattern: [0-9]+]",
		`{"Name":"a","Filters":[{},{"Pattern":"long"}]}`: one + "'long' at 'filters.2.member.pattern'" + failed +
			"Member must have length less than or equal to 3",
	} {
		err, got := check(body), ""
		var invalid *shape.Invalid
		if errors.As(err, &invalid) {
			got = err.Error()
		} else if err != nil {
			t.Errorf("%s: %T: %v", body, err, err)
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
}

func TestOtherTypesAreToldFromOtherValues(t *testing.T) {
	for body, want := range map[string]string{
		`{`:                                    "is no JSON",
		`[]`:                                   "Start of list found where not expected.",
		`"x"`:                                  "Unexpected field type",
		`{"Name":5}`:                           "NUMBER_VALUE can not be converted to a String",
		`{"Name":true}`:                        "TRUE_VALUE can not be converted to a String",
		`{"Name":{}}`:                          "Start of structure or map found where not expected.",
		`{"Name":"a","Timeout":"5"}`:           "STRING_VALUE can not be converted to an Integer",
		`{"Name":"a","Timeout":1.5}`:           "NUMBER_VALUE can not be converted to an Integer",
		`{"Name":"a","Timeout":1e99}`:          "NUMBER_VALUE can not be converted to an Integer",
		`{"Name":"a","Publish":"yes"}`:         "STRING_VALUE can not be converted to a Boolean",
		`{"Name":"a","Code":"zip"}`:            "Unexpected field type",
		`{"Name":"a","Code":{"ZipFile":7}}`:    "NUMBER_VALUE can not be converted to a Blob",
		`{"Name":"a","Architectures":[7]}`:     "NUMBER_VALUE can not be converted to a String",
		`{"Name":"a","Architectures":"arm64"}`: "Unexpected field type",
		`{"Name":"a","Weights":{"2":"x"}}`:     "STRING_VALUE can not be converted to a Double",
	} {
		err := check(body)
		var mistaken *shape.TypeError
		if !errors.As(err, &mistaken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", body, err, want)
		}
	}
}

func TestNumbersBesideTheBodyAreNumbers(t *testing.T) {
	for text, want := range map[string]string{"5": "", "51": "less than or equal to 50",
		"0": "greater than or equal to 1", "x": "can not be converted", "{": "can not"} {
		var p shape.Problems
		p.Text(shape.Integer(1, 50), "MaxItems", text)
		if err := p.Err(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}

func TestMuchIsToldShortly(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, body := range []string{
		`{"Name":"` + strings.Repeat("飛", 1<<20) + `"}`,
		`{"Name":"a","Filters":[{"x":` + deep + `},{},{},{}]}`,
		`{"Name":"a","Filters":[` + strings.Repeat(`{"Pattern":"long"},`, 9999) + `{}]}`,
	} {
		if err := check(body); err == nil || len(err.Error()) > 100<<10 || !utf8.ValidString(err.Error()) {
			t.Errorf("%.40s: an error of %d bytes", body, len(err.Error()))
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, body := range []string{
		``, `{`, `null`, `{"Name":"a"}`, `{"Name":null,"name":5}`, `{"Code":{"ZipFile":"AA=="}}`,
		`{"Filters":[null,{"Pattern":"\ud800"}]}`,
		`{"Weights":{"":null}}`, `{"Timeout":-0}`, `{"Timeout":1E2}`, `{"Architectures":[{"a":[]}]}`,
		`{"Runtimes":["\u0000"]}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		err := check(body)
		if err == nil {
			return
		}
		var invalid *shape.Invalid
		var mistaken *shape.TypeError
		if !errors.As(err, &invalid) && !errors.As(err, &mistaken) || err.Error() == "" {
			t.Errorf("%q: %v", body, err)
		}
	})
}
