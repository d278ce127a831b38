package apns

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// Config is the sink's settings.
type Config struct {
	// Apps are those that messages are pushed to, by name. With one, messages need not say which; with several they
	// name theirs in the attribute app.
	Apps map[string]App `yaml:"apps" required:"true"`
	// Payload is a jq program that makes the payload of a message; it sees the body as ".", and $attributes, $id, $key,
	// $time and $expires. Not set: the body is the payload.
	Payload string `yaml:"payload"`
	// PushType is that of messages whose attribute push_type does not say. Not set: alert.
	PushType string `yaml:"push_type" oneof:"alert background controls location voip complication fileprovider mdm liveactivity pushtotalk widgets"`
	// Priority is that of messages whose attribute priority does not say: 10, 5 or 1. Not set: Apple's default, and 5
	// for background.
	Priority int `yaml:"priority"`
	// TTL is how long after a message's time APNs may go on trying, and after which it is dropped here. A message's own
	// expiration or expiry comes first. Not set: as APNs likes.
	TTL time.Duration `yaml:"ttl"`
	// CollapseID is the collapse id of messages whose attribute collapse_id does not say.
	CollapseID string `yaml:"collapse_id"`
	// Backlog is the queue where pushes wait, each a message with the attributes that it has here. With it, a push is
	// dropped when a newer one with its device and collapse id waits there. Not set: only what was here before is
	// known.
	Backlog string `yaml:"backlog"`
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
	// SuspectPercent of the last SuspectAnswers answers may say that a token is none for the app's environment and
	// topic. When more do, these are probably wrong, and the app rests. 0: 5.
	SuspectPercent int `yaml:"suspect_percent" min:"0" max:"100"`
	// SuspectAnswers is how many of the last answers that looks at. 0: 200.
	SuspectAnswers int `yaml:"suspect_answers" min:"0" max:"100000"`
	// Connections is the most connections to one far end with one key; more than one is made only when all streams are
	// in use. 0: 4.
	Connections int `yaml:"connections" min:"0" max:"1000"`
}

// App is one app and how it proves who sends: with a key of its team, or with a certificate.
type App struct {
	// Topic is the app's bundle id. Not set: its name.
	Topic string `yaml:"topic"`
	// Environment is production or development. Not set: production.
	Environment string `yaml:"environment" oneof:"production development"`
	// Endpoint is another far end than Apple's, as host:port or https://host:port.
	Endpoint string `yaml:"endpoint"`
	// CAFile has the certificates to trust instead of the system's.
	CAFile string `yaml:"ca_file" file:"read"`
	// Team is the id of the team whose key KeyFile is.
	Team string `yaml:"team"`
	// KeyID is the id of the key.
	KeyID string `yaml:"key_id"`
	// KeyFile is the key for provider tokens, a .p8 file. It is read again when it has changed.
	KeyFile string `yaml:"key_file" file:"read"`
	// CertFile is a certificate of the app, in PEM or PKCS #12 (.p12), in place of a key. It is read again when it has
	// changed.
	CertFile string `yaml:"cert_file" file:"read"`
	// CertKeyFile is the private key of CertFile. Not set: it is in CertFile, too.
	CertKeyFile string `yaml:"cert_key_file" file:"read"`
	// CertPassword opens cert_file where that is PKCS #12. Not set: it has no password.
	CertPassword string `yaml:"cert_password" secret:"true"`
}

// hosts are Apple's, by environment.
var hosts = map[string]string{
	"production":  "api.push.apple.com:443",
	"development": "api.sandbox.push.apple.com:443",
}

const (
	defaultConnections = 4
	streamsEach        = 1000 // that a connection is expected to have: what is in flight at most for each of them
	defaultPushType    = "alert"
	defaultEnvironment = "production"
)

// pushTypes are the types, each with what it adds to the topic.
var pushTypes = map[string]string{
	"alert":        "",
	"background":   "",
	"controls":     ".push-type.controls",
	"location":     ".location-query",
	"voip":         ".voip",
	"complication": ".complication",
	"fileprovider": ".pushkit.fileprovider",
	"mdm":          "",
	"liveactivity": ".push-type.liveactivity",
	"pushtotalk":   ".voip-ptt",
	"widgets":      ".push-type.widgets",
}

// New checks the settings. Nothing is read or opened yet.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{
		name: env.Name, pushType: c.PushType, priority: c.Priority, ttl: c.TTL, collapseID: c.CollapseID,
		connections: c.Connections, deadFor: c.DeadFor, apps: map[string]*app{}, clock: time.Now,
	}
	if env.Store != nil {
		s.store = env.Store
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	s.dead = dead.New(dead.Config{
		Store: s.store, Room: s.name, Platform: "apns", Feedback: s.feedback, Memory: s.deadFor,
		Clock: func() time.Time { return s.clock() },
	})
	var err error
	if s.backlog, err = setting.Backlog(c.Backlog, env.Store, "token", "collapse_id", "app"); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Apps)) {
		a, err := newApp(name, c.Apps[name])
		if err != nil {
			return nil, err
		}
		a.watches.config = func(topic string) suspect.Config {
			percent := cmp.Or(c.SuspectPercent, suspect.DefaultPercent)
			return suspect.Config{
				Percent: percent, Answers: c.SuspectAnswers, Clock: func() time.Time { return s.clock() },
				Mistake: func(seen suspect.Seen) error { return a.mistake(topic, percent, seen) },
			}
		}
		s.apps[name] = a
		if len(c.Apps) == 1 {
			s.only = a
		}
	}
	s.Begin = s.begin
	return s, nil
}

func (s *Sink) check(c Config) error {
	if len(c.Apps) == 0 {
		return &component.SettingError{Setting: "apps", Offset: -1, Err: errors.New("there is none"),
			Hint: "name at least one, as in com.example.news: { team: …, key_id: …, key_file: … }"}
	}
	if s.pushType == "" {
		s.pushType = defaultPushType
	}
	if _, ok := pushTypes[s.pushType]; !ok {
		return component.Setting("push_type", fmt.Errorf("%q is no push type", c.PushType))
	}
	switch c.Priority {
	case 0, 1, 5, 10:
	default:
		return component.Setting("priority", fmt.Errorf("%d is none of 10, 5 and 1", c.Priority))
	}
	if c.Priority == 10 && s.pushType == "background" {
		return component.Setting("priority", errors.New("is 10: APNs refuses that for background pushes"))
	}
	if len(c.CollapseID) > maxCollapse {
		return component.Setting("collapse_id", fmt.Errorf("has %d bytes, the most are %d", len(c.CollapseID),
			maxCollapse))
	}
	if !isValue(c.CollapseID) {
		return component.Setting("collapse_id", errors.New("has a character that no header may have"))
	}
	if err := setting.Durations(c.TTL, c.DeadFor); err != nil {
		return err
	}
	switch {
	case c.Connections < 0:
		return component.Setting("connections", fmt.Errorf("%d is negative", c.Connections))
	case c.Connections == 0:
		s.connections = defaultConnections
	}
	var err error
	s.proxy = c.Proxy
	s.payload, s.feedback, err = s.Read("payload", c.Payload, c.Feedback, c.Receipts, c.Proxy)
	return err
}

// newApp checks one app's settings.
func newApp(name string, c App) (*app, error) {
	wrong := func(setting, format string, args ...any) error {
		return component.Setting("apps."+name+"."+setting, fmt.Errorf(format, args...))
	}
	a := &app{name: name, config: c, topic: c.Topic}
	if a.topic == "" {
		a.topic = name
	}
	if !isTopic(a.topic) {
		return nil, wrong("topic", "%q is no bundle id", a.topic)
	}
	token := c.Team != "" || c.KeyID != "" || c.KeyFile != ""
	switch {
	case token && c.CertFile != "":
		return nil, wrong("cert_file", "stands beside a key: an app has one or the other")
	case !token && c.CertFile == "" && c.CertKeyFile == "":
		return nil, component.Setting("apps."+name, errors.New("has neither a key (team, key_id, key_file) nor a "+
			"certificate (cert_file)"))
	case c.CertKeyFile != "" && c.CertFile == "":
		return nil, wrong("cert_key_file", "is there without cert_file")
	case c.CertPassword != "" && c.CertFile == "":
		return nil, wrong("cert_password", "is there without cert_file")
	case c.CertPassword != "" && c.CertKeyFile != "":
		return nil, wrong("cert_password", "opens a .p12 file, which has its key in it: leave cert_key_file out")
	}
	if token {
		for _, part := range [][2]string{{"team", c.Team}, {"key_id", c.KeyID}, {"key_file", c.KeyFile}} {
			if part[1] == "" {
				return nil, wrong(part[0], "is missing: a key has team, key_id and key_file")
			}
		}
	}
	if c.Environment == "" {
		a.config.Environment = defaultEnvironment
	}
	host, ok := hosts[a.config.Environment]
	if !ok {
		return nil, wrong("environment", "%q is neither production nor development", c.Environment)
	}
	var err error
	if a.address, err = setting.Address("apps."+name+".endpoint", c.Endpoint, host); err != nil {
		return nil, err
	}
	return a, nil
}

func isTopic(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f || text[i] == '/' {
			return false
		}
	}
	return text != "" && len(text) <= 255
}

// isValue tells whether text can be the value of a header.
func isValue(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] == 0x7f {
			return false
		}
	}
	return text == strings.TrimSpace(text)
}
