package filter_test

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestAFilterAndItsConditionLetTheSameThrough(t *testing.T) {
	com := attributes{"name": "com", "lang": "en"}
	for _, c := range []struct {
		filter string
		on     attributes
		want   bool
	}{
		{`attributes:name`, com, true},
		{`attributes:name`, attributes{"name": ""}, true},
		{`attributes:Name`, com, false},
		{`attributes:name`, nil, false},
		{`attributes.name = "com"`, com, true},
		{`attributes.name="com"`, com, true},
		{`attributes.name = "COM"`, com, false},
		{`attributes.name = "co"`, com, false},
		{`attributes.name = ""`, attributes{"name": ""}, true},
		{`attributes.name = ""`, nil, false},
		{`attributes.name != "com"`, com, false},
		{`attributes.name != "net"`, com, true},
		{`attributes.name != "com"`, nil, true},
		{`hasPrefix(attributes.name, "co")`, com, true},
		{`hasPrefix(attributes.name,"com")`, com, true},
		{`hasPrefix ( attributes.name , "o" )`, com, false},
		{`hasPrefix(attributes.name, "")`, attributes{"name": ""}, true},
		{`hasPrefix(attributes.name, "")`, nil, false},

		{`NOT attributes:name`, com, false},
		{`NOT attributes:name`, nil, true},
		{`-attributes:name`, nil, true},
		{`- attributes:name`, com, false},
		{`NOT -attributes:name`, com, true},
		{`NOT attributes.name = "com"`, nil, true},
		{`NOT attributes.name != "com"`, nil, false},
		{`NOT attributes.name != "com"`, com, true},
		{`NOT hasPrefix(attributes.name, "co")`, nil, true},
		{`NOT hasPrefix(attributes.name, "co")`, com, false},
		{`NOT attributes:name AND attributes:lang`, com, false},
		{`NOT attributes:name AND attributes:lang`, attributes{"lang": "ja"}, true},
		{`NOT (attributes:name AND attributes:lang)`, nil, true},
		{`NOT (attributes:name OR attributes.lang = "jp")`, attributes{"lang": "en"}, true},
		{`NOT(attributes.a = "1" AND NOT attributes.b = "2")`, attributes{"b": "2"}, true},
		{`NOT(attributes.a = "1" AND NOT attributes.b = "2")`, attributes{"a": "1"}, false},

		{`attributes.name = "com" AND -attributes:"lang"`, com, false},
		{`attributes:a AND attributes:b AND attributes:c`, attributes{"a": "", "b": "", "c": ""}, true},
		{`attributes:a AND attributes:b AND attributes:c`, attributes{"a": "", "b": ""}, false},
		{`attributes:a OR attributes:b OR attributes:c`, attributes{"c": ""}, true},
		{`attributes:a AND (attributes:b OR attributes:c)`, attributes{"a": "", "c": ""}, true},
		{`(attributes:a AND attributes:b) OR attributes:c`, attributes{"a": ""}, false},
		{"\tattributes:a\nAND\r\nattributes:b ", attributes{"a": "", "b": ""}, true},
		{`attributes . a = "x" AND attributes : a`, attributes{"a": "x"}, true},
		{`((((attributes:a))))`, attributes{"a": ""}, true},

		{`attributes:iana-language_tag0`, attributes{"iana-language_tag0": ""}, true},
		{`attributes:-`, attributes{"-": ""}, true},
		{`attributes:AND`, attributes{"AND": ""}, true},
		{`attributes."iana.org/language_tag" = "en"`, attributes{"iana.org/language_tag": "en"}, true},
		{`attributes:"\u307F\u3093\u306A"`, attributes{"みんな": ""}, true},
		{`attributes:"みんな"`, attributes{"みんな": ""}, true},
		{`attributes.a = "\U0001F43E"`, attributes{"a": "🐾"}, true},
		{`attributes.a = "\xe9\xa3\x9b"`, attributes{"a": "飛"}, true},
		{`attributes.a = "\351\243\233"`, attributes{"a": "飛"}, true},
		{`attributes.a = "say \"hi\" \\ \'it\' \a\b\f\n\r\t\v\?\101\x41\X41\0001"`,
			attributes{"a": "say \"hi\" \\ 'it' \a\b\f\n\r\t\v?AAA\x001"}, true},
		{"attributes:\"a`b\" AND attributes.\"c'd\" = \"e'f`\"", attributes{"a`b": "", "c'd": "e'f`"}, true},

		// What means something to conditions means nothing here.
		{`attributes.a = "100%"`, attributes{"a": "100 of 100"}, false},
		{`attributes.a = "100%"`, attributes{"a": "100%"}, true},
		{`attributes.a = "_"`, attributes{"a": "x"}, false},
		{`attributes.a = "_"`, attributes{"a": "_"}, true},
		{`attributes.a = "\\%"`, attributes{"a": `\%`}, true},
		{`attributes.a = "\\%"`, attributes{"a": `\x`}, false},
		{`hasPrefix(attributes.a, "%")`, attributes{"a": "x"}, false},
		{`hasPrefix(attributes.a, "%")`, attributes{"a": "%x"}, true},
		{`hasPrefix(attributes.a, "\\")`, attributes{"a": `\`}, true},
		{`attributes.a = "5"`, attributes{"a": "05"}, false},
		{`attributes.a = "5"`, attributes{"a": " 5"}, false},
		{`attributes:null OR attributes:not`, attributes{"not": ""}, true},
	} {
		check(t, c.filter, c.on, c.want)
	}
}

func TestAnEmptyFilterLetsEverythingThrough(t *testing.T) {
	f, err := filter.Parse("")
	if err != nil || !f.All() || f.Condition(nil) != "" || f.String() != "" {
		t.Fatalf("%+v, %v", f, err)
	}
}

func TestAFilterKeepsItsText(t *testing.T) {
	const text = ` attributes.a  =  "x" `
	f, err := filter.Parse(text)
	if err != nil || f.String() != text || f.All() {
		t.Fatalf("%+v, %v", f, err)
	}
}

func TestConditionsCallAttributesByTheNamesTheyAreGiven(t *testing.T) {
	f, err := filter.Parse(`attributes:id AND attributes.lang = "ja"`)
	if err != nil {
		t.Fatal(err)
	}
	got := f.Condition(func(key string) string {
		if key == "id" {
			return "@id"
		}
		return key
	})
	if want := "(`@id` is not null and `lang` like 'ja')"; got != want {
		t.Errorf("%s, wanted %s", got, want)
	}
}

// Other doors keep numbers as numbers; Pub/Sub shows them as text.
func TestAnAttributeThatIsNoStringIsComparedByItsText(t *testing.T) {
	for _, c := range []struct {
		value  message.Value
		filter string
		want   bool
	}{
		{message.Int(5), `attributes.a = "5"`, true},
		{message.Int(5), `attributes.a = "05"`, false},
		{message.Bool(true), `attributes.a = "true"`, true},
		{message.Decimal("1.50"), `hasPrefix(attributes.a, "1.5")`, true},
		{message.Bytes([]byte("飛")), `attributes.a = "飛"`, true},
	} {
		if got := compiled(t, c.filter).Match(only{c.value}); got != c.want {
			t.Errorf("%s of %v: %v", c.filter, c.value, got)
		}
	}
}

// only gives every name one value.
type only struct{ value message.Value }

func (o only) Lookup(string) message.Value { return o.value }

func TestTheLongestFilterIsAllowedAndOneByteMoreIsNot(t *testing.T) {
	longest := `attributes.a = "` + strings.Repeat("x", filter.MaxBytes-len(`attributes.a = ""`)) + `"`
	check(t, longest, nil, false)
	refused(t, longest+" ", filter.MaxBytes, "")
}

func TestDeepFiltersStayWithinWhatConditionsAllow(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 120) + "attributes:a" + strings.Repeat(")", 120),
		strings.Repeat("-", 240) + "attributes:a",
		strings.Repeat("attributes:a AND(-attributes:b OR(", 6) + "attributes:c" + strings.Repeat(")", 12),
		strings.Repeat("-(", 80) + "attributes:a" + strings.Repeat(")", 80),
	} {
		compiled(t, text)
	}
	if _, err := condition.Parse(compiled(t, `attributes:a`).String()); err != nil {
		t.Error(err)
	}
}
