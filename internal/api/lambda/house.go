package lambda

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

// InstanceAnswer is an instance as GET /hikyaku/functions tells about it. Times are in milliseconds.
type InstanceAnswer struct {
	ID       string  `json:"id"`
	State    string  `json:"state"`
	Machine  int     `json:"machine,omitempty"`
	AgeMS    int64   `json:"age_ms"`
	InitMS   float64 `json:"init_ms"`
	Invokes  int64   `json:"invokes"`
	PeakMB   int     `json:"peak_mb"` // 0: unknown
	PID      int     `json:"pid"`
	Limited  bool    `json:"memory_limited"`
	Bounded  bool    `json:"storage_bounded"`         // its temporary files are a file system of its own
	Isolated bool    `json:"isolated"`                // it has files, processes and a user of its own
	Opt      bool    `json:"layers_at_opt,omitempty"` // it finds its layers at /opt
	Stored   int     `json:"stored_mb,omitempty"`     // its temporary files, when they are not bounded
}

// FunctionsAnswer is what GET /hikyaku/functions answers.
type FunctionsAnswer struct {
	Functions   []FunctionAnswer `json:"functions"`
	NotIsolated []string         `json:"not_isolated,omitempty"` // what of the isolation of functions is missing here
}

// FunctionAnswer is a version of a function as GET /hikyaku/functions tells about it.
type FunctionAnswer struct {
	Name         string           `json:"name"`
	Version      string           `json:"version"`
	Runtime      string           `json:"runtime"`
	Handler      string           `json:"handler,omitempty"`
	Warning      string           `json:"warning,omitempty"` // that it runs on another version than it asks for
	Damage       string           `json:"damage,omitempty"`  // that kept code of it is not what was deployed
	MemoryMB     int              `json:"memory_mb"`
	Policy       string           `json:"policy,omitempty"`
	Invokes      int64            `json:"invokes"`
	Errors       int64            `json:"errors"`
	Timeouts     int64            `json:"timeouts"`
	Throttled    int64            `json:"throttled"`
	ColdStarts   int64            `json:"cold_starts"`
	InitFailures int64            `json:"init_failures"`
	BilledMS     int64            `json:"billed_ms"`
	CostUSD      float64          `json:"cost_usd"`
	Running      int              `json:"running"`
	Waiting      int              `json:"waiting"`
	Instances    []InstanceAnswer `json:"instances"`
}

// LineAnswer is a line of a log as GET /hikyaku/functions/NAME/log writes it, one object a line. Next is where to go
// on.
type LineAnswer struct {
	Time     time.Time `json:"time"`
	Instance string    `json:"instance,omitempty"`
	Request  string    `json:"request,omitempty"`
	Text     string    `json:"text"`
	Ours     bool      `json:"ours,omitempty"`
	Missed   uint64    `json:"missed,omitempty"` // lines before this one that are gone
	Next     uint64    `json:"next"`
}

func (c *call) instances() error {
	wanted := map[string]function.Stats{}
	for _, s := range c.d.functions.Stats() {
		wanted[s.Deployed.Definition.Name+":"+s.Deployed.Definition.Version] = s
	}
	all := []FunctionAnswer{}
	for _, f := range c.d.functions.List() {
		if c.seen(f.Name) != nil {
			continue
		}
		for _, v := range append(f.Published(), f.Latest) {
			s, ok := wanted[f.Name+":"+v.Number]
			unsound := c.d.functions.Unsound(v)
			if !ok && v.Number != function.Latest && unsound == "" {
				continue // nobody has wanted it since the start
			}
			a := FunctionAnswer{Name: f.Name, Version: v.Number, Runtime: v.Settings.Runtime,
				Handler: v.Settings.Handler, Warning: s.Deployed.Warning, Damage: unsound,
				MemoryMB: max(v.Settings.MemoryMB, 128),
				Policy:   string(v.Settings.Policy), Invokes: s.Invocations, Errors: s.Errors, Timeouts: s.Timeouts,
				Throttled: s.Throttled, ColdStarts: s.ColdStarts,
				InitFailures: s.InitFailures, BilledMS: s.Billed.Milliseconds(), CostUSD: s.Cost,
				Running: s.Counts.Running, Waiting: s.Counts.Waiting, Instances: []InstanceAnswer{}}
			for _, i := range s.Instances {
				a.Instances = append(a.Instances, InstanceAnswer{ID: i.ID, State: i.State, Machine: i.Machine,
					AgeMS:  i.Age.Milliseconds(),
					InitMS: float64(i.Init.Microseconds()) / 1000, Invokes: i.Invokes, PeakMB: i.PeakMB, PID: i.Pid,
					Limited: i.Limited,
					Bounded: i.Isolated, Isolated: i.Isolated, Opt: i.Opt, Stored: i.StoredMB})
			}
			all = append(all, a)
		}
	}
	return c.answer(http.StatusOK, FunctionsAnswer{Functions: all, NotIsolated: c.d.functions.NotIsolated()})
}

// redeploy changes settings and code at once, so that a new runtime never meets the old code. What is not said stays as
// it is.
func (c *call) redeploy() error {
	var in struct {
		Code codeIn
		settingsIn
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.DeadLetterConfig != nil {
		if err := c.mayTarget(in.DeadLetterConfig.TargetArn); err != nil {
			return err
		}
	}
	var code *deployment.Code
	if len(in.Code.ZipFile) > 0 {
		code = &deployment.Code{Zip: in.Code.ZipFile}
	}
	f, err := c.d.functions.Update(c.ctx(), c.function, in.RevisionID, in.apply, code)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describe(f, f.Latest, ""))
}

// log writes the newest lines of a function's log (?lines=N) and, with ?follow=true, what comes.
func (c *call) log() error {
	f, v, err := c.d.functions.Version(c.function, c.qualifier)
	if err != nil {
		return err
	}
	if err := c.d.functions.Ready(c.ctx(), f.Name, c.qualifier); err != nil {
		return err
	}
	pool, err := c.d.functions.Pool()
	if err != nil {
		return err
	}
	book, err := pool.Log(f.Name, v.Number)
	if err != nil {
		return err
	}
	q := c.r.URL.Query()
	last := uint64(100)
	if text := q.Get("lines"); text != "" {
		if last, err = strconv.ParseUint(text, 10, 32); err != nil {
			return wrongValue("lines is a number")
		}
	}
	from := book.End()
	from -= min(from, last)
	c.w.Header().Set("Content-Type", "application/x-ndjson")
	c.w.WriteHeader(http.StatusOK)
	out := json.NewEncoder(c.w)
	ctx, cancel := c.follow()
	defer cancel()
	for first := true; ; first = false {
		lines, next, missed := book.Read(from, 0)
		if len(lines) == 0 && !first {
			if q.Get("follow") != "true" {
				return nil
			}
			if lines, next, missed, err = book.Next(ctx, from); err != nil {
				return nil // the client is gone, or the door closes
			}
		}
		if first { // lines that were dropped long ago are not missed by anybody
			missed = 0
		}
		for i, l := range lines {
			a := LineAnswer{Time: l.Time, Instance: l.Instance, Request: l.Request, Text: l.Text, Ours: l.Ours,
				Next: next - uint64(len(lines)-1-i)}
			if i == 0 {
				a.Missed = missed
			}
			if err := out.Encode(a); err != nil {
				return nil
			}
		}
		if http.NewResponseController(c.w).Flush() != nil {
			return nil
		}
		from = next
	}
}
