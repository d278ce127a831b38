package http

import "time"

// Function is a version of a function as it is now. Totals are since the start.
type Function struct {
	Name    string `json:"name"`
	Version string `json:"version"` // $LATEST or a number
	Runtime string `json:"runtime,omitempty"`
	Handler string `json:"handler,omitempty"`
	// MemoryMB is what an instance may take, and Timeout how long an invocation, in seconds.
	MemoryMB int     `json:"memory_mb"`
	Timeout  float64 `json:"timeout_seconds"`

	Invocations  int64 `json:"invocations"`
	Errors       int64 `json:"errors"`
	Timeouts     int64 `json:"timeouts"`
	Throttled    int64 `json:"throttled"`
	ColdStarts   int64 `json:"cold_starts"`
	InitFailures int64 `json:"init_failures"`
	// Billed is how long invocations took in all, in seconds, as they would be billed.
	Billed float64 `json:"billed_seconds"`

	// Instances by their states, and invocations that wait for one.
	Starting int `json:"starting"`
	Idle     int `json:"idle"`
	Busy     int `json:"busy"`
	Waiting  int `json:"waiting"`

	Instances []FunctionInstance `json:"instances,omitempty"` // of one function that is shown, the first of them
}

// FunctionInstance is a process that runs a function. Times are in seconds.
type FunctionInstance struct {
	ID          string  `json:"id"`
	State       string  `json:"state"` // starting, idle, frozen, busy, finishing or stopping
	Age         float64 `json:"age_seconds"`
	Init        float64 `json:"init_seconds"` // how long it took to start; 0: it has not yet
	Invocations int64   `json:"invocations"`
	PeakMB      int     `json:"peak_mb"` // 0: not known
}

type functionList struct {
	Functions []Function `json:"functions"`
	Next      string     `json:"next,omitempty"` // the after= of the next page
}

// FunctionLine is a line of a function's log, without secrets.
type FunctionLine struct {
	Time     time.Time `json:"time"`
	Instance string    `json:"instance,omitempty"`
	Request  string    `json:"request,omitempty"`
	Text     string    `json:"text"`
}

type functionLog struct {
	Lines []FunctionLine `json:"lines"`
}

// Invoked is what an invocation came to.
type Invoked struct {
	Request string `json:"request"`
	Version string `json:"version"`
	// Error is of which kind the error is that the function answered with; "": it is none.
	Error   string  `json:"error,omitempty"`
	Advice  string  `json:"advice,omitempty"`
	Payload string  `json:"payload"`       // the answer or the error, its beginning, without secrets
	Cut     bool    `json:"cut,omitempty"` // there is more of it
	Cold    bool    `json:"cold"`          // an instance had to start first
	Took    float64 `json:"took_seconds"`
	Billed  float64 `json:"billed_seconds"`
	PeakMB  int     `json:"peak_mb"`
}
