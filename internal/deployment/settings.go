package deployment

import (
	"encoding/json"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/place"
)

// Settings say what a version of a function is, but for its code. Zero values are the provider's defaults.
type Settings struct {
	Description string   `json:",omitempty"`
	Runtime     string   `json:",omitempty"` // see function.Definition
	Handler     string   `json:",omitempty"`
	Command     []string `json:",omitempty"`
	Role        string   `json:",omitempty"` // kept for who asks; nothing here checks it
	Layers      []string `json:",omitempty"` // folders, and ARNs of versions of layers
	// Attached are the archives of the layers that ARNs name, so that a layer may be deleted. The Registry sets it.
	Attached     map[string]Attached `json:",omitempty"`
	Environment  map[string]string   `json:",omitempty"`
	MemoryMB     int                 `json:",omitempty"` // 0: 128
	StorageMB    int                 `json:",omitempty"` // of temporary files; 0: 512
	Timeout      time.Duration       `json:",omitempty"` // 0: 3 s
	Architecture string              `json:",omitempty"`
	// DeadLetter is the queue or topic that events which are given up go to, as "name", "namespace/name" or an ARN of
	// SQS or SNS; "": none.
	DeadLetter string `json:",omitempty"`

	Policy      place.Kind    `json:",omitempty"` // "": warm
	Machines    int           `json:",omitempty"`
	InitTimeout time.Duration `json:",omitempty"`
	Idle        time.Duration `json:",omitempty"`
	Freeze      time.Duration `json:",omitempty"`

	// Extra are settings that clients want to read again and that change nothing here, as JSON by their names.
	Extra map[string]json.RawMessage `json:",omitempty"`
}

// Code is where a function's code comes from: one of the two.
type Code struct {
	Zip    []byte // an archive
	Folder string // used as it is: what changes there is seen by the next instance
}

// Version is a version of a function: the one that can be changed, or a published one that cannot.
type Version struct {
	Number   string // $LATEST, or 1, 2, …
	Settings Settings
	Folder   string `json:",omitempty"`
	SHA256   string `json:",omitempty"` // of the archive, in hexadecimal
	Size     int64  `json:",omitempty"` // of the archive, in bytes
	Changed  time.Time
	Revision string // another one after each change
	// From is the revision of $LATEST that a published version was made of; "" for $LATEST, and for one of before it
	// was kept.
	From string `json:",omitempty"`
}

// Alias names a version.
type Alias struct {
	Name        string
	Version     string
	Description string `json:",omitempty"`
	// Others get a share of the invocations, from 0 to 1; Version gets the rest.
	Others   map[string]float64 `json:",omitempty"`
	Revision string
}

// Events say what becomes of events that nobody waits for.
type Events struct {
	Retries   *int          `json:",omitempty"` // after an error of the function; nil: 2
	MaxAge    time.Duration `json:",omitempty"` // 0: 6 hours
	OnSuccess string        `json:",omitempty"` // an ARN of a queue (SQS), a topic (SNS) or a function
	OnFailure string        `json:",omitempty"`
	Changed   time.Time
}

// URL says that a function answers HTTP requests.
type URL struct {
	Auth    string // NONE or AWS_IAM
	Mode    string // BUFFERED or RESPONSE_STREAM
	Cors    json.RawMessage
	Created time.Time
	Changed time.Time
}

// RuntimeUpdates say when the runtime of a version changes. They are kept for who reads them again.
type RuntimeUpdates struct {
	On  string // Auto, FunctionUpdate or Manual
	ARN string `json:",omitempty"` // of the version of the runtime, with Manual
}

// Function is a function with everything that is known about it.
type Function struct {
	Name     string
	Latest   Version
	Next     int               `json:",omitempty"` // number of the version that will be published
	Aliases  map[string]Alias  `json:",omitempty"`
	Tags     map[string]string `json:",omitempty"`
	Reserved *int              `json:",omitempty"`
	// Those below are by qualifier: $LATEST, a version or an alias.
	Provisioned map[string]int               `json:",omitempty"`
	ProvisionAt map[string]time.Time         `json:",omitempty"` // when Provisioned was set
	Events      map[string]Events            `json:",omitempty"`
	URLs        map[string]URL               `json:",omitempty"`
	Policies    map[string][]json.RawMessage `json:",omitempty"`
	Runtimes    map[string]RuntimeUpdates    `json:",omitempty"`

	Signing   string `json:",omitempty"` // the id of a code signing configuration
	Recursion string `json:",omitempty"` // Allow or Terminate; kept for who asks

	versions map[string]Version // the published ones
}

// Published are the published versions, the oldest first.
func (f *Function) Published() []Version {
	var all []Version
	for n := 1; n <= f.Next; n++ {
		if v, ok := f.versions[number(n)]; ok {
			all = append(all, v)
		}
	}
	return all
}

// Mapping feeds a function from a queue.
type Mapping struct {
	ID              string
	Queue           string // namespace/name
	SourceARN       string
	Function        string
	Qualifier       string `json:",omitempty"`
	Batch           int
	Window          time.Duration     `json:",omitempty"` // how long to wait for a batch to become full
	MaxConcurrency  int               `json:",omitempty"` // batches in the function at once; 0: 5
	PartialFailures bool              `json:",omitempty"` // the function says which messages failed
	Filters         []string          `json:",omitempty"` // patterns of which one has to match; none: all messages
	Off             bool              `json:",omitempty"`
	Tags            map[string]string `json:",omitempty"`
	// Extra are settings that clients want to read again and that change nothing here, as JSON by their names.
	Extra             map[string]json.RawMessage `json:",omitempty"`
	Changed, LastUsed time.Time
}
