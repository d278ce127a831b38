package fcm

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/setting"
)

// Config is the sink's settings.
type Config struct {
	// Projects are those whose apps messages are sent to, by name. With one, messages need not say which; with several
	// they name theirs in the attribute project.
	Projects map[string]Project `yaml:"projects" required:"true"`
	// Message is a jq program that makes FCM's message, without its target; it sees the body as ".", and $attributes,
	// $id, $key, $time and $expires. Not set: the body is that.
	Message string `yaml:"message"`
	// Priority is that of messages whose attribute priority does not say: high or normal, for Android. Not set: as the
	// message's program says, else FCM's default.
	Priority string `yaml:"priority" oneof:"high normal"`
	// CollapseKey is that of messages whose attribute collapse_key does not say, for Android.
	CollapseKey string `yaml:"collapse_key"`
	// Backlog is the queue where pushes wait, each a message with the attributes that it has here. With it, a push is
	// dropped when a newer one with its device and collapse key waits there. Not set: only what was here before is
	// known.
	Backlog string `yaml:"backlog"`
	// TTL is how long after a message's time FCM may go on trying, and after which it is dropped here. A message's own
	// expiration or expiry comes first. Not set: as FCM likes.
	TTL time.Duration `yaml:"ttl"`
	// Feedback is the queue or topic where devices that are gone are reported. Not set: they are not.
	Feedback string `yaml:"feedback"`
	// Receipts is the queue or topic that gets a receipt of each message that the sink is done with: what became of it,
	// its id at the far end, and when it passed each step. Not set: there are none.
	Receipts string `yaml:"receipts"`
	// Proxy is the HTTP proxy to the far end: http://host:port or https://host:port, with user:password@ before the
	// host where it asks for them; or direct: none. Not set: as HTTPS_PROXY and NO_PROXY of the environment say.
	Proxy string `yaml:"proxy" secret:"true"`
	// DeadFor is how long a device that is gone is remembered. Not set: for ever.
	DeadFor time.Duration `yaml:"dead_for"`
	// SuspectPercent of the last SuspectAnswers answers may say that a token is another project's. When more do, the
	// project's account is probably wrong, and the project rests. 0: 5.
	SuspectPercent int `yaml:"suspect_percent" min:"0" max:"100"`
	// SuspectAnswers is how many of the last answers that looks at. 0: 200.
	SuspectAnswers int `yaml:"suspect_answers" min:"0" max:"100000"`
	// Connections is the most connections to one far end; more than one is made only when all streams are in use. 0: 4.
	Connections int `yaml:"connections" min:"0" max:"1000"`
}

// Project is one Firebase project and the service account that may send for it.
type Project struct {
	// AccountFile is the key of the service account, as JSON. It is read again when it has changed.
	AccountFile string `yaml:"account_file" file:"read"`
	// ID is the project's id. Not set: that of the account.
	ID string `yaml:"id"`
	// Endpoint is another far end than Google's, as host:port or https://host:port.
	Endpoint string `yaml:"endpoint"`
	// TokenURL is another place for access tokens than the account's file says.
	TokenURL string `yaml:"token_url"`
	// CAFile has the certificates to trust instead of the system's.
	CAFile string `yaml:"ca_file" file:"read"`
}

const (
	googleHost         = "fcm.googleapis.com:443"
	defaultConnections = 4
	streamsEach        = 100 // that a connection is expected to have
)

// New checks the settings. Nothing is read or opened yet.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{
		name: env.Name, priority: strings.ToUpper(c.Priority), ttl: c.TTL, collapseKey: c.CollapseKey,
		connections: c.Connections, deadFor: c.DeadFor,
		projects: map[string]*project{}, clock: time.Now, seed: maphash.MakeSeed(),
	}
	if env.Store != nil {
		s.store = env.Store
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	s.dead = dead.New(dead.Config{
		Store: s.store, Room: s.name, Platform: "fcm", Feedback: s.feedback, Memory: s.deadFor,
		Clock: func() time.Time { return s.clock() },
	})
	// A device is named by token or by fid. Topics and conditions are not looked for: prepare.
	backlog, err := setting.Backlog(c.Backlog, env.Store, "token", "collapse_key", "project", "fid")
	if err != nil {
		return nil, err
	}
	backlog.Or("fid")
	s.Begin = s.begin
	s.sender = &sender.Sender{
		Clock: func() time.Time { return s.clock() }, Dead: s.dead, Newest: &s.newest, Backlog: backlog,
		Failed: &s.failed, Counts: &s.counts, CountGone: countDead,
		Devices: &s.devices, Rests: errDeviceRests, Device: "device", Token: "device",
	}
	for _, name := range slices.Sorted(maps.Keys(c.Projects)) {
		p, err := newProject(name, c.Projects[name])
		if err != nil {
			return nil, err
		}
		p.Watch(c.SuspectPercent, c.SuspectAnswers, s.sender.Clock, p.mistake, p.refused)
		s.projects[name] = p
		if len(c.Projects) == 1 {
			s.only = p
		}
	}
	return s, nil
}

func (s *Sink) check(c Config) error {
	if len(c.Projects) == 0 {
		return &component.SettingError{
			Setting: "projects", Offset: -1, Err: errors.New("there is none"),
			Hint: "name at least one, as in news-app: { account_file: … }",
		}
	}
	if !slices.Contains([]string{"", "HIGH", "NORMAL"}, s.priority) {
		return component.Setting("priority", fmt.Errorf("%q is neither high nor normal", c.Priority))
	}
	if err := setting.Durations(c.TTL, c.DeadFor); err != nil {
		return err
	}
	if c.TTL > longestTTL {
		return component.Setting("ttl", fmt.Errorf("%v is longer than FCM keeps a message: four weeks", c.TTL))
	}
	switch {
	case c.Connections < 0:
		return component.Setting("connections", fmt.Errorf("%d is negative", c.Connections))
	case c.Connections == 0:
		s.connections = defaultConnections
	}
	var err error
	s.proxy = c.Proxy
	s.program, s.feedback, err = s.Read("message", c.Message, c.Feedback, c.Receipts, c.Proxy)
	return err
}

// newProject checks one project's settings.
func newProject(name string, c Project) (*project, error) {
	if c.AccountFile == "" {
		return nil, component.Setting("projects."+name+".account_file",
			errors.New("is missing: name the key of a service account"))
	}
	if c.ID != "" && !isID(c.ID) {
		return nil, component.Setting("projects."+name+".id", fmt.Errorf("%q is no project's id", c.ID))
	}
	p := &project{Account: sender.Account{Kind: "project", Name: name}, config: c, id: c.ID}
	var err error
	if p.address, err = setting.Address("projects."+name+".endpoint", c.Endpoint, googleHost); err != nil {
		return nil, err
	}
	return p, nil
}

// isID tells whether text can be a project's id: it becomes a part of a path.
func isID(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.:", c) >= 0:
		default:
			return false
		}
	}
	return text != "" && len(text) <= 100
}
