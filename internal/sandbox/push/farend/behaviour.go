package farend

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// Duration is a time.Duration that JSON writes as "40ms".
type Duration time.Duration

// MarshalText writes Go's form of a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads Go's form of a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Behaviour says how requests and connections are treated. The zero Behaviour answers at once and allows 1000 streams.
// Shares are between 0 and 1.
type Behaviour struct {
	Latency Latency `json:"latency,omitzero"` // from a request's last byte to its answer
	// Streams is how many streams a connection may have open: SETTINGS_MAX_CONCURRENT_STREAMS, told to open connections
	// too when it changes. nil: 1000. It may be 1, and it may be 0.
	Streams *uint32 `json:"streams,omitempty"`
	// OneUntilTrusted allows one stream until a connection's first request with a valid token was answered, and one
	// again after an invalid one.
	OneUntilTrusted bool      `json:"one_until_trusted,omitempty"`
	Newcomers       Newcomers `json:"newcomers,omitzero"`
	Faults          []Fault   `json:"faults,omitempty"`  // at most one befalls a request
	Devices         []Device  `json:"devices,omitempty"` // the first that fits a request goes before Latency and Faults
}

// DefaultStreams is the stream limit of a Behaviour that names none.
const DefaultStreams = 1000

// Limit makes the Streams of a Behaviour.
func Limit(n uint32) *uint32 { return &n }

// Newcomers bounds how fast new connections may come, as a provider does that takes a storm of them for an attack.
type Newcomers struct {
	PerSecond float64 `json:"per_second,omitempty"` // 0: any number
	// how many may come at once; 0: as many as a second brings, at least 1
	Burst int       `json:"burst,omitempty"`
	Do    Treatment `json:"do,omitempty"` // to those beyond; "": reset
}

// Treatment is what happens to a connection that comes too soon.
type Treatment string

// The treatments of Newcomers.
const (
	ResetThem Treatment = "reset" // the TCP connection is reset
	HangThem  Treatment = "hang"  // it is left open, and the TLS handshake never begins
	MixThem   Treatment = "mix"   // one is reset, the next one hangs
)

// Kind is what befalls a request.
type Kind string

// The kinds of faults.
const (
	Refuse          Kind = "refuse"           // the answer is Reason
	ResetStream     Kind = "reset_stream"     // RST_STREAM with Code where the answer was due
	ResetConnection Kind = "reset_connection" // the connection is reset, and what was in flight on it is lost
	// GOAWAY on this connection, which leaves a share of what is in flight unprocessed
	GoAway   Kind = "goaway"
	Silence  Kind = "silence"   // no answer, ever
	Half     Kind = "half"      // half of the answer's first frame, then the connection is reset
	SlowRead Kind = "slow_read" // nothing is read from the connection for For
)

var kinds = []Kind{Refuse, ResetStream, ResetConnection, GoAway, Silence, Half, SlowRead}

// Fault is something that befalls a share of the requests which would have been accepted.
type Fault struct {
	Do Kind `json:"do"`
	// Probability for each request. With neither it nor Every: every request.
	Probability float64 `json:"probability,omitempty"`
	// Every nth request that comes to this fault, counted over all connections.
	Every int `json:"every,omitempty"`
	// Times bounds how often it happens. 0: no bound.
	Times int `json:"times,omitempty"`

	Reason     string `json:"reason,omitempty"`      // Refuse: as the provider names it
	RetryAfter int    `json:"retry_after,omitempty"` // Refuse: seconds for the header of that name; 0: no header
	// ResetStream: the HTTP/2 error; 0: INTERNAL_ERROR. REFUSED_STREAM says unprocessed
	Code uint32 `json:"code,omitempty"`
	// GoAway: the share of what is in flight, of the newest, that is left unprocessed
	Unprocessed float64 `json:"unprocessed,omitempty"`
	// ResetStream, ResetConnection, Silence: what gets no answer was processed all the same
	Processed bool     `json:"processed,omitempty"`
	For       Duration `json:"for,omitempty"` // SlowRead
}

// Device is a rule for some devices.
type Device struct {
	Tokens  []string `json:"tokens,omitempty"`  // these
	OneIn   int      `json:"one_in,omitempty"`  // or, of all, one in so many, chosen by their tokens: always the same
	Latency *Latency `json:"latency,omitempty"` // nil: as for the others
	Faults  []Fault  `json:"faults,omitempty"`  // before those of the Behaviour
}

// check says what is wrong, with known telling whether the service has a reason of that name.
func (b *Behaviour) check(known func(reason string) error) error {
	if err := b.Latency.check(); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	if b.Newcomers.PerSecond < 0 || b.Newcomers.Burst < 0 {
		return errors.New("newcomers: per_second and burst cannot be negative")
	}
	if !slices.Contains([]Treatment{"", ResetThem, HangThem, MixThem}, b.Newcomers.Do) {
		return fmt.Errorf("newcomers.do: %q is none of reset, hang and mix", b.Newcomers.Do)
	}
	for i := range b.Faults {
		if err := b.Faults[i].check(known); err != nil {
			return fmt.Errorf("faults[%d]: %w", i, err)
		}
	}
	for i, d := range b.Devices {
		if (len(d.Tokens) == 0) == (d.OneIn <= 0) {
			return fmt.Errorf("devices[%d]: wants either tokens or one_in", i)
		}
		if d.Latency != nil {
			if err := d.Latency.check(); err != nil {
				return fmt.Errorf("devices[%d].latency: %w", i, err)
			}
		}
		for j := range d.Faults {
			if err := d.Faults[j].check(known); err != nil {
				return fmt.Errorf("devices[%d].faults[%d]: %w", i, j, err)
			}
		}
	}
	return nil
}

func (f *Fault) check(known func(reason string) error) error {
	if !slices.Contains(kinds, f.Do) {
		return fmt.Errorf("do: %q is nothing a far end can do: it knows %v", f.Do, kinds)
	}
	if f.Probability < 0 || f.Probability > 1 || f.Unprocessed < 0 || f.Unprocessed > 1 {
		return errors.New("probability and unprocessed are shares, from 0 to 1")
	}
	if f.Every < 0 || f.Times < 0 || f.For < 0 || f.RetryAfter < 0 {
		return errors.New("every, times, for and retry_after cannot be negative")
	}
	if f.Do == Refuse {
		return known(f.Reason)
	}
	return nil
}

// code is the HTTP/2 error of a ResetStream.
func (f *Fault) code() http2.ErrCode {
	if f.Code == 0 {
		return http2.ErrCodeInternal
	}
	return http2.ErrCode(f.Code)
}
