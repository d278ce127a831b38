package console

import (
	"context"
	"encoding/json"
	"net/http"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

const (
	logLines = 100
	// shownAnswer is how much of a function's answer is shown after an invocation: a cookie carries it to the page.
	shownAnswer = 600
)

// known are the functions, a page of them.
type known struct {
	After     string
	Functions []httpdoor.Function
	Next      string
}

func functions(ctx context.Context, a *asking) (any, error) {
	k := &known{After: a.r.URL.Query().Get("after")}
	var err error
	k.Functions, k.Next, err = a.door.FunctionsAfter(ctx, k.After, listRows)
	return k, err
}

// FunctionPath is the path of a function's page below Base.
func (v *view) FunctionPath(name string) string { return "function/" + segment(name) }

// oneFunction is a function with what it said last.
type oneFunction struct {
	httpdoor.Function
	Log []httpdoor.FunctionLine
}

func showFunction(ctx context.Context, a *asking) (any, error) {
	f, err := a.door.Function(ctx, a.r.PathValue("function"), "")
	if err != nil {
		return nil, err
	}
	log, err := a.door.FunctionLog(ctx, f.Name, "", logLines)
	return &oneFunction{f, log}, err
}

// invoke runs a function with a test event.
func invoke(ctx context.Context, a *asking) (outcome, error) {
	name, event := a.r.PathValue("function"), []byte(a.r.PostForm.Get("event"))
	if len(event) == 0 {
		event = []byte("{}")
	}
	if !json.Valid(event) {
		return outcome{}, &httpdoor.Problem{Title: a.T("The event is no JSON"), Status: http.StatusBadRequest}
	}
	done, err := a.door.InvokeFunction(ctx, name, "", event)
	if err != nil {
		return outcome{}, err
	}
	answer := []rune(done.Payload)
	text := string(answer[:min(len(answer), shownAnswer)])
	if len(answer) > shownAnswer || done.Cut {
		text += "…"
	}
	said := a.T("Answered after %s: %s", a.Seconds(done.Took), text)
	if done.Error != "" {
		said = a.T("Failed after %s (%s): %s", a.Seconds(done.Took), done.Error, text)
	}
	return outcome{to: a.FunctionPath(name), said: said}, nil
}
