package codec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
)

// Config is what a decoding: setting and the decode transform take. The zero value leaves bodies alone.
type Config struct {
	// Codec "" is bytes.
	Codec string `yaml:"codec" required:"true" oneof:"json csv logfmt regex text bytes" doc:"How the text is read. text leaves the body as it is if it is UTF-8, bytes leaves it in any case; the others make a JSON object of its fields."`
	// Columns are for csv. Instead of them, the first record of a stream may name the columns: see Decoder.WithHeader.
	Columns   []string `yaml:"columns" doc:"Of csv: the names of the columns, in their order."`
	Rest      string   `yaml:"rest" doc:"Of csv: what the fields behind the columns are called: value calls them value1, value2 and so on, however many a record has. In types and attributes that name stands for all of them. Not set: a record has no more fields than columns."`
	Header    bool     `yaml:"header" doc:"Of csv in a stdin source: the first line names the columns."`
	Delimiter string   `yaml:"delimiter" doc:"Of csv: the character between fields; tab is a tab. Not set: a comma."`
	Pattern   string   `yaml:"pattern" doc:"Of regex: a regular expression (RE2) whose named groups, (?P<name>…), are the fields. A text that does not match is refused."`
	// Types has "int", "float", "decimal", "bool", "string", "timestamp" or "timestamp(layout)" by field name.
	Types map[string]string `yaml:"types" doc:"The types of fields: int, float, decimal, bool, string, timestamp, timestamp(2006-01-02 15:04:05), timestamp(unix), also unix_ms, unix_us and unix_ns. Without one a field is a string; of json, what it is. Dots name fields of fields."`
	// Attributes is a []string, a []any of strings, "all" or nil.
	Attributes any `yaml:"attributes" doc:"The fields that become attributes too, so that conditions find them without reading the body: a list of names (dots name fields of fields), or all for every field of the record that is a single value."`
}

// Names of the codecs.
var codecNames = []string{"json", "csv", "logfmt", "regex", "text", "bytes"}

func wrong(setting, hint, format string, args ...any) error {
	return &component.SettingError{Setting: setting, Offset: -1, Err: fmt.Errorf(format, args...), Hint: hint}
}

// belongs refuses settings of other codecs, which would silently do nothing.
func (c *Config) belongs() error {
	for _, s := range []struct {
		name   string
		set    bool
		codecs []string
	}{
		{"columns", len(c.Columns) > 0, []string{"csv"}},
		{"rest", c.Rest != "", []string{"csv"}},
		{"header", c.Header, []string{"csv"}},
		{"delimiter", c.Delimiter != "", []string{"csv"}},
		{"pattern", c.Pattern != "", []string{"regex"}},
		{"types", len(c.Types) > 0, []string{"json", "csv", "logfmt", "regex"}},
		{"attributes", c.Attributes != nil, []string{"json", "csv", "logfmt", "regex"}},
	} {
		if s.set && !slices.Contains(s.codecs, c.Codec) {
			return wrong(s.name, "", "the codec %s has no such setting; it belongs to %s", c.Codec,
				strings.Join(s.codecs, ", "))
		}
	}
	return nil
}

// types parses Types, in a stable order so that of several errors always the same is shown.
func (c *Config) types() (map[string]fieldType, error) {
	parsed := make(map[string]fieldType, len(c.Types))
	for _, name := range sortedKeys(c.Types) {
		t, err := parseType(c.Types[name])
		if err != nil {
			return nil, component.Setting("types."+name, err)
		}
		parsed[name] = t
	}
	return parsed, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// attributes parses Attributes.
func (c *Config) attributes() (all bool, names []string, err error) {
	const hint = `write a list of field names, or all`
	switch a := c.Attributes.(type) {
	case nil:
	case string:
		if a != "all" {
			return false, nil, wrong("attributes", hint, "%s is neither a list nor all", quote(a))
		}
		all = true
	case []string:
		names = a
	case []any:
		for i, x := range a {
			name, ok := x.(string)
			if !ok {
				return false, nil, wrong("attributes["+strconv.Itoa(i)+"]", hint, "%v is no field name", x)
			}
			names = append(names, name)
		}
	default:
		return false, nil, wrong("attributes", hint, "%v is neither a list nor all", a)
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return false, nil, wrong("attributes["+strconv.Itoa(i)+"]", "", "the name %s is empty or there twice",
				quote(name))
		}
	}
	return all, names, nil
}

// known refuses types and attributes of fields that a record with these fields cannot have.
func (c *Config) known(fields []string, what string) error {
	hint := "there are: " + strings.Join(fields, ", ")
	for _, name := range sortedKeys(c.Types) {
		if !slices.Contains(fields, name) {
			return wrong("types."+name, hint, "there is no %s %s", what, quote(name))
		}
	}
	_, names, err := c.attributes()
	if err != nil {
		return err
	}
	for i, name := range names {
		if !slices.Contains(fields, name) {
			return wrong("attributes["+strconv.Itoa(i)+"]", hint, "there is no %s %s", what, quote(name))
		}
	}
	return nil
}
