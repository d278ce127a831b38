package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// known has resources that say their names.
var known = Known{Stack: "parcels", Region: "eu-west-1", Account: "000000000000",
	Attribute: func(resource, attribute string) (any, error) { return resource + "/" + attribute, nil }}

// valueOf works out the property P of the resource R of a template in YAML.
func valueOf(t *testing.T, text string, given map[string]string) (string, error) {
	t.Helper()
	parsed, err := Parse([]byte(text))
	if err != nil {
		return "", err
	}
	s, err := parsed.Open(known, given)
	if err != nil {
		return "", err
	}
	p, err := s.Properties("R")
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(p["P"])
	return string(b), err
}

const frame = `
Parameters: { Word: { Type: String, Default: bird }, Many: { Type: CommaDelimitedList, Default: "a, b,c" } }
Mappings: { Size: { eu-west-1: { small: 3 }, other: { small: 4 } } }
Conditions:
  Yes: !Equals [!Ref Word, bird]
  No: !Not [!Condition Yes]
  Both: !And [!Condition Yes, !Or [!Condition No, !Equals [1, "1"]]]
Resources:
  Q: { Type: Q }
  Away: { Type: Q, Condition: No }
  R: { Type: R, Properties: { P: %s } }
`

func TestAFunctionStandsForItsValue(t *testing.T) {
	for text, want := range map[string]string{
		`!Ref Word`:               `"bird"`,
		`{ Ref: Q }`:              `"Q/"`,
		`!GetAtt Q.Arn`:           `"Q/Arn"`,
		`!GetAtt [Q, Arn]`:        `"Q/Arn"`,
		`{ "Fn::GetAtt": Q.Arn }`: `"Q/Arn"`,
		`!Sub "${Word} ${Q.Arn} ${!Word} ${AWS::Region}"`:                                `"bird Q/Arn ${Word} eu-west-1"`,
		`!Sub ["${a}-${Word}", { a: !Ref Q }]`:                                           `"Q/-bird"`,
		`!Sub "no end ${Word"`:                                                           `"no end ${Word"`,
		`!Join [":", [a, !Ref Word, 3, !Ref AWS::NoValue]]`:                              `"a:bird:3"`,
		`!Join ["-", !Ref Many]`:                                                         `"a-b-c"`,
		`!Select [1, !Split ["/", a/b/c]]`:                                               `"b"`,
		`!FindInMap [Size, !Ref AWS::Region, small]`:                                     `3`,
		`!If [Both, [1, !Ref AWS::NoValue], 2]`:                                          `[1]`,
		`!If [No, 1, !Ref AWS::NoValue]`:                                                 `null`,
		`!If [No, !Ref Away, x]`:                                                         `"x"`,
		`{ Version: 2012-10-17, Account: 012345678901 }`:                                 `{"Account":"012345678901","Version":"2012-10-17"}`,
		`[true, 1.5, null, "1"]`:                                                         `[true,1.5,null,"1"]`,
		`!Sub "${AWS::StackName}.${AWS::Partition}.${AWS::URLSuffix}.${AWS::AccountId}"`: `"parcels.aws.amazonaws.com.000000000000"`,
	} {
		if got, err := valueOf(t, fmt.Sprintf(frame, text), nil); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	if got, err := valueOf(t, fmt.Sprintf(frame, "!If [Yes, 1, 2]"), map[string]string{"Word": "x"}); got != "2" {
		t.Errorf("with another parameter: %s %v", got, err)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for text, says := range map[string]string{
		`!Ref Nobody`:                 `no parameter or resource "Nobody"`,
		`!Ref Away`:                   "Away is not made",
		`!Sub "${Nobody.Arn}"`:        "${Nobody.Arn}",
		`!GetAZs x`:                   "Fn::GetAZs: this function is not known here",
		`!Select [3, [a]]`:            `no number "3"`,
		`!FindInMap [Size, x, small]`: `no "x" there`,
		`!If [Nobody, 1, 2]`:          `no condition "Nobody"`,
		`!Join [a]`:                   "Fn::Join: it is [TEXT, LIST]",
		`!GetAtt Q`:                   "!GetAtt RESOURCE.ATTRIBUTE",
		`{ a: 1, a: 2 }`:              "",
		`&a [*a]`:                     "",
		strings.Repeat("[", 120) + strings.Repeat("]", 120): "deeper than 100",
	} {
		if got, err := valueOf(t, fmt.Sprintf(frame, text), nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %s %v, want an error with %q", text, got, err, says)
		}
	}
	for text, says := range map[string]string{
		"":                           "empty",
		"[]":                         "no map",
		"Resources: {}":              "no Resources",
		"Resources: { R: { P: 1 } }": "Resources: R: there is no Type",
		"Resources: { R: { Type: R, DependsOn: Nobody } }":                            "depends on Nobody",
		"Resources: { R: { Type: R, DependsOn: S }, S: { Type: S, DependsOn: [R] } }": "in a circle: R, S",
		"Parameters: { A: { Type: String } }\nResources: { R: { Type: R } }":          "were not given: A",
		"Conditions: { A: !Not [!Condition B], B: !Not [!Condition A] }\n" +
			"Resources: { R: { Type: R } }": "depends on itself",
		`{"Resources": {"R": {"Type": "R"}}} x`: "behind the template's last brace",
	} {
		parsed, err := Parse([]byte(text))
		if err == nil {
			var s *Scope
			if s, err = parsed.Open(known, nil); err == nil {
				_, err = s.Order()
			}
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

func TestWhatIsReferredToComesFirst(t *testing.T) {
	parsed, err := Parse([]byte(`{"Resources": {
		"A": {"Type": "T", "Properties": {"x": {"Fn::Sub": "${B.Arn} ${!D}"}}},
		"B": {"Type": "T", "Properties": {"x": [{"Ref": "C"}]}, "DependsOn": "D"},
		"C": {"Type": "T", "Properties": {"x": {"Fn::GetAtt": ["D", "Arn"]}}},
		"D": {"Type": "T"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := parsed.Open(known, nil)
	if err != nil {
		t.Fatal(err)
	}
	if order, err := s.Order(); err != nil || !slices.Equal(order, []string{"D", "C", "B", "A"}) {
		t.Errorf("%v %v", order, err)
	}
}

func TestAliasesThatMultiplyAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	if _, err := Parse([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "values") {
		t.Error(err)
	}
}

func TestWhatFunctionsMakeIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	_, err := valueOf(t, fmt.Sprintf(frame, `!Sub "`+strings.Repeat("${Word}", 100)+`"`),
		map[string]string{"Word": long})
	if err == nil || !strings.Contains(err.Error(), "make more than") {
		t.Error(err)
	}
}

// FuzzParse looks for texts on which the parser, or the order, ends in a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(frame, `!Sub ["${a}", {a: !GetAtt Q.Arn}]`)))
	f.Add([]byte(`{"Resources": {"R": {"Type": "T", "Properties": {"x": {"Fn::Join": ["", [{"Ref": "R"}]]}}}}}`))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := Parse(text)
		if err != nil {
			return
		}
		s, err := parsed.Open(known, nil)
		if err != nil {
			return
		}
		order, err := s.Order()
		if err != nil {
			return
		}
		for _, name := range order {
			if _, err := s.Properties(name); err != nil {
				return
			}
		}
		_, _ = s.Outputs()
	})
}
