package jq

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/component"
)

// compile makes code of a program that stands in a setting.
func compile(setting, text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, parseError(setting, text, err)
	}
	code, err := gojq.Compile(query, gojq.WithVariables(variableNames),
		gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, compileError(setting, text, err)
	}
	return code, nil
}

// parseError points at the beginning of the token that does not fit: gojq tells how far it had read.
func parseError(setting, text string, err error) error {
	out := &component.SettingError{Setting: setting, Offset: -1, Err: err}
	var bad *gojq.ParseError
	if errors.As(err, &bad) {
		out.Offset = min(max(bad.Offset-len(bad.Token), 0), len(text))
		if bad.Offset >= len(text) && bad.Token == "" {
			out.Hint = "something is open at the end: a bracket, a string, or an if without its end"
		}
	}
	return out
}

var undefined = regexp.MustCompile(`^(?:function|variable|label) not defined: ([^/]+)`)

// compileError points at the first appearance of the name that is not known, which gojq tells without its place.
func compileError(setting, text string, err error) error {
	out := &component.SettingError{Setting: setting, Offset: -1, Err: err}
	if m := undefined.FindStringSubmatch(err.Error()); m != nil {
		out.Offset = findWord(text, m[1])
		if strings.HasPrefix(err.Error(), "variable") {
			out.Hint = "there are: " + strings.Join(variableNames, ", ")
		}
	} else if strings.Contains(err.Error(), "input") {
		out.Offset = max(findWord(text, "input"), findWord(text, "inputs"))
		out.Hint = `a program sees one message, as "."`
	} else if strings.Contains(err.Error(), "module") {
		out.Hint = "programs cannot load modules or files"
	}
	return out
}

// findWord returns the offset of the first appearance of name that is no field (.name) and not part of a longer name,
// -1 when there is none.
func findWord(text, name string) int {
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isNameByte(text[i-1]) && text[i-1] != '.') && (end == len(text) || !isNameByte(text[end])) {
			return i
		}
		from = i + 1
	}
	return -1
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// outputs are the values that a program makes of one input.
type outputs struct{ iter gojq.Iter }

func iterate(ctx context.Context, code *gojq.Code, input any, variables []any) outputs {
	return outputs{code.RunWithContext(ctx, input, variables...)}
}

// next returns the next value; ok is false at the end, to which halt comes as well.
func (o outputs) next() (v any, ok bool, err error) {
	v, ok = o.iter.Next()
	if !ok {
		return nil, false, nil
	}
	err, failed := v.(error)
	if !failed {
		return v, true, nil
	}
	var halt *gojq.HaltError
	if errors.As(err, &halt) {
		if halt.Value() == nil && halt.ExitCode() == 0 {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("the program halted: %v", halt.Value())
	}
	return nil, false, err
}
