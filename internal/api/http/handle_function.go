package http

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Bounds of what is told of functions.
const (
	maxInstances  = 100
	usualLogLines = 100
	maxLogLines   = 1000
	maxLogText    = 2 << 10
	maxInvoked    = 256 << 10 // of an answer
	usualMemoryMB = 128
	usualTimeout  = 3
)

// functions are those of the server. Without users they are only for its own account: they run code as that one.
func (c *call) functions() (*deployment.Registry, error) {
	if !c.d.users.Any() {
		if err := c.sameAccount(); err != nil {
			return nil, err
		}
	}
	if c.d.functions == nil {
		return nil, notReady.problem("this server has no functions")
	}
	return c.d.functions, nil
}

// functionName is a function as grants name it.
func functionName(name string) queue.Name {
	return queue.Name{Namespace: queue.DefaultNamespace, Name: name}
}

// functionOf is the function of the path, if the user may know of it, at the version that qualifier= names.
func (c *call) functionOf(also ...string) (*deployment.Registry, *deployment.Function, deployment.Version, error) {
	var none deployment.Version
	r, err := c.functions()
	if err != nil {
		return nil, nil, none, err
	}
	if err := c.only(append(also, "qualifier")...); err != nil {
		return nil, nil, none, err
	}
	name := c.r.PathValue("function")
	if n := functionName(name); !c.d.users.Visible(c.user, n) {
		return nil, nil, none, c.invisible(n)
	}
	f, v, err := r.Version(name, c.r.URL.Query().Get("qualifier"))
	return r, f, v, functionProblem(err)
}

// functionProblem makes a problem of an error of package deployment.
func functionProblem(err error) error {
	switch {
	case errors.Is(err, deployment.ErrUnknown):
		return noFunction.problem(err.Error())
	case errors.Is(err, function.ErrThrottled):
		return throttled.problem(err.Error())
	case errors.Is(err, function.ErrTooLarge):
		return bodyTooLarge.problem(err.Error())
	case errors.Is(err, deployment.ErrInvalid), errors.As(err, new(*function.DefinitionError)):
		return badFunction.problem(err.Error())
	case errors.Is(err, deployment.ErrClosed):
		return notReady.problem(err.Error())
	}
	return err
}

func listFunctions(c *call) error {
	r, err := c.functions()
	if err != nil {
		return err
	}
	if err := c.only("after", "max"); err != nil {
		return err
	}
	asked, err := c.number("max", MaxList)
	if err != nil {
		return err
	}
	after, list := c.r.URL.Query().Get("after"), functionList{Functions: []Function{}}
	for _, f := range r.List() {
		if f.Name <= after || !c.d.users.Visible(c.user, functionName(f.Name)) {
			continue
		}
		if n := len(list.Functions); n == or(int(asked), MaxList) {
			list.Next = list.Functions[n-1].Name
			break
		}
		list.Functions = append(list.Functions, shownFunction(r, f.Name, f.Latest, 0))
	}
	return c.w.json(http.StatusOK, list)
}

func showFunction(c *call) error {
	r, f, v, err := c.functionOf()
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, shownFunction(r, f.Name, v, maxInstances))
}

// shownFunction tells about a version, which nobody may have wanted yet, and so many of its instances.
func shownFunction(r *deployment.Registry, name string, v deployment.Version, instances int) Function {
	s, _ := r.Deployed(name, v.Number)
	f := Function{Name: name, Version: v.Number, Runtime: v.Settings.Runtime, Handler: v.Settings.Handler,
		MemoryMB: or(v.Settings.MemoryMB, usualMemoryMB), Timeout: or(v.Settings.Timeout.Seconds(), usualTimeout),
		Invocations: s.Invocations, Errors: s.Errors, Timeouts: s.Timeouts, Throttled: s.Throttled,
		ColdStarts: s.ColdStarts, InitFailures: s.InitFailures, Billed: s.Billed.Seconds(),
		Starting: s.Counts.Starting, Idle: s.Counts.Idle, Busy: s.Counts.Busy, Waiting: s.Counts.Waiting}
	for _, i := range s.Instances[:min(len(s.Instances), instances)] {
		f.Instances = append(f.Instances, FunctionInstance{ID: i.ID, State: i.State, Age: i.Age.Seconds(),
			Init: i.Init.Seconds(), Invocations: i.Invokes, PeakMB: i.PeakMB})
	}
	return f
}

// showFunctionLog tells the newest lines of a log. A version that nobody wanted yet has none.
func showFunctionLog(c *call) error {
	r, f, v, err := c.functionOf("lines")
	if err != nil {
		return err
	}
	asked, err := c.number("lines", maxLogLines)
	if err != nil {
		return err
	}
	log := functionLog{Lines: []FunctionLine{}}
	if _, wanted := r.Deployed(f.Name, v.Number); !wanted {
		return c.w.json(http.StatusOK, log)
	}
	pool, err := r.Pool()
	if err != nil {
		return functionProblem(err)
	}
	book, err := pool.Log(f.Name, v.Number)
	if err != nil {
		return functionProblem(err)
	}
	end, most := book.End(), or(asked, usualLogLines)
	lines, _, _ := book.Read(end-min(end, most), int(most))
	hide := c.d.secrets().Mask
	for _, l := range lines {
		text := string(beginning([]byte(hide(l.Text)), maxLogText))
		log.Lines = append(log.Lines, FunctionLine{Time: l.Time.UTC(), Instance: l.Instance, Request: l.Request,
			Text: strings.ToValidUTF8(text, "\uFFFD")})
	}
	return c.w.json(http.StatusOK, log)
}

// invokeFunction runs a function with an event, which is the body, and waits for its answer.
func invokeFunction(c *call) error {
	r, f, _, err := c.functionOf()
	if err != nil {
		return err
	}
	if err := c.may(access.Put, functionName(f.Name)); err != nil {
		return err
	}
	var event json.RawMessage
	if err := c.decode(&event, false); err != nil {
		return err
	}
	if len(event) == 0 {
		event = json.RawMessage("{}")
	}
	ctx, cancel := c.d.untilStop(c.ctx())
	defer cancel()
	done, err := r.Invoke(ctx, function.Request{Function: f.Name, Version: c.r.URL.Query().Get("qualifier"),
		Payload: event})
	if err != nil {
		return functionProblem(err)
	}
	payload := []byte(c.d.secrets().Mask(string(done.Payload)))
	a := Invoked{Request: done.RequestID, Version: done.Version, Error: done.ErrorType, Advice: done.Advice,
		Payload: strings.ToValidUTF8(string(beginning(payload, maxInvoked)), "\uFFFD"), Cut: len(payload) > maxInvoked,
		Cold: done.Cold, Took: done.Usage.Duration.Seconds(), Billed: done.Charge.Billed.Seconds(),
		PeakMB: done.Usage.PeakMB}
	if done.FunctionError == "" {
		a.Error = ""
	} else {
		a.Error = or(a.Error, done.FunctionError)
	}
	return c.w.json(http.StatusOK, a)
}
