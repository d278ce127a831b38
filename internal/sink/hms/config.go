package hms

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
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
	// Apps are those that messages are sent to, by name. With one, messages need not say which; with several they name
	// theirs in the attribute app.
	Apps map[string]App `yaml:"apps" required:"true"`
	// Message is a jq program that makes Push Kit's message, without its target; it sees the body as ".", and
	// $attributes, $id, $key, $time and $expires. Not set: the body is that.
	Message string `yaml:"message"`
	// Urgency is that of messages whose attribute urgency does not say: high (which Huawei has to permit) or normal.
	// Not set: as the message's program says, else Push Kit's default.
	Urgency string `yaml:"urgency" oneof:"high normal"`
	// CollapseKey is that of messages whose attribute collapse_key does not say: 0 to 100. Not set: as the message's
	// program says, else none.
	CollapseKey string `yaml:"collapse_key"`
	// Backlog is the queue where pushes wait, each a message with the attributes that it has here. With it, a push is
	// dropped when a newer one with its device and collapse key waits there. Not set: only what was here before is
	// known.
	Backlog string `yaml:"backlog"`
	// TTL is how long after a message's time Push Kit may go on trying, and after which it is dropped here. A message's
	// own expiration or expiry comes first. Not set: a day, as Push Kit has it.
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
	// SuspectPercent of the last SuspectAnswers answers may say that a token is none of the app's. When more do, the
	// app's settings are probably wrong, and the app rests. 0: 5.
	SuspectPercent int `yaml:"suspect_percent" min:"0" max:"100"`
	// SuspectAnswers is how many of the last answers that looks at. 0: 200.
	SuspectAnswers int `yaml:"suspect_answers" min:"0" max:"100000"`
	// Connections is the most connections to one far end; more than one is made only when all streams are in use. Where
	// the far end speaks HTTP/1.1 alone, each has one message at a time. 0: 16.
	Connections int `yaml:"connections" min:"0" max:"1000"`
}

// App is one app of AppGallery Connect and its secret.
type App struct {
	// ClientID is the id of the app's OAuth 2.0 client: in AppGallery Connect the App ID.
	ClientID string `yaml:"client_id"`
	// SecretFile has the secret of that client, one line. It is read again when it has changed.
	SecretFile string `yaml:"secret_file" file:"read"`
	// Endpoint is another far end than Huawei's, as host:port or https://host:port.
	Endpoint string `yaml:"endpoint"`
	// TokenURL is another place for access tokens than Huawei's.
	TokenURL string `yaml:"token_url"`
	// CAFile has the certificates to trust instead of the system's.
	CAFile string `yaml:"ca_file" file:"read"`
}

const (
	huaweiHost         = "push-api.cloud.huawei.com:443"
	huaweiTokens       = "https://oauth-login.cloud.huawei.com/oauth2/v3/token"
	defaultConnections = 16
	streamsEach        = 32 // that a connection is expected to have
)

// New checks the settings. Nothing is read or opened yet.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{
		name: env.Name, urgency: strings.ToUpper(c.Urgency), ttl: c.TTL, collapseKey: c.CollapseKey,
		connections: cmp.Or(c.Connections, defaultConnections), deadFor: c.DeadFor,
		apps: map[string]*app{}, clock: time.Now,
	}
	if env.Store != nil {
		s.store = env.Store
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	s.dead = dead.New(dead.Config{
		Store: s.store, Room: s.name, Platform: "hms", Feedback: s.feedback, Memory: s.deadFor,
		Clock: func() time.Time { return s.clock() },
	})
	backlog, err := setting.Backlog(c.Backlog, env.Store, "token", "collapse_key", "app")
	if err != nil {
		return nil, err
	}
	s.Begin = s.begin
	s.sender = &sender.Sender{
		Clock: func() time.Time { return s.clock() }, Dead: s.dead, Newest: &s.newest, Backlog: backlog,
		Failed: &s.failed, Counts: &s.counts, CountGone: countDead, Device: "device", Token: "token",
	}
	for _, name := range slices.Sorted(maps.Keys(c.Apps)) {
		a, err := newApp(name, c.Apps[name])
		if err != nil {
			return nil, err
		}
		a.Watch(c.SuspectPercent, c.SuspectAnswers, s.sender.Clock, a.mistake, a.refused)
		s.apps[name] = a
		if len(c.Apps) == 1 {
			s.only = a
		}
	}
	return s, nil
}

func (s *Sink) check(c Config) error {
	if len(c.Apps) == 0 {
		return &component.SettingError{
			Setting: "apps", Offset: -1, Err: errors.New("there is none"),
			Hint: "name at least one, as in news: { client_id: …, secret_file: … }",
		}
	}
	if !slices.Contains([]string{"", "HIGH", "NORMAL"}, s.urgency) {
		return component.Setting("urgency", fmt.Errorf("%q is neither high nor normal", c.Urgency))
	}
	if c.CollapseKey != "" {
		if _, err := collapseKey(c.CollapseKey); err != nil {
			return component.Setting("collapse_key", err)
		}
	}
	if err := setting.Durations(c.TTL, c.DeadFor); err != nil {
		return err
	}
	if c.TTL > longestTTL {
		return component.Setting("ttl", fmt.Errorf("%v is longer than Push Kit keeps a message: 15 days", c.TTL))
	}
	if c.Connections < 0 {
		return component.Setting("connections", fmt.Errorf("%d is negative", c.Connections))
	}
	var err error
	s.proxy = c.Proxy
	s.program, s.feedback, err = s.Read("message", c.Message, c.Feedback, c.Receipts, c.Proxy)
	return err
}

// newApp checks one app's settings.
func newApp(name string, c App) (*app, error) {
	wrong := func(setting string, err error) error { return component.Setting("apps."+name+"."+setting, err) }
	switch {
	case c.ClientID == "":
		return nil, wrong("client_id", errors.New("is missing: it is the App ID of AppGallery Connect"))
	case !isID(c.ClientID):
		return nil, wrong("client_id", fmt.Errorf("%q is no id of an app", c.ClientID))
	case c.SecretFile == "":
		return nil, wrong("secret_file", errors.New("is missing: name the file with the client's secret"))
	}
	a := &app{Account: sender.Account{Kind: "app", Name: name}, config: c,
		path: "/v1/" + c.ClientID + "/messages:send", tokenURL: cmp.Or(c.TokenURL, huaweiTokens)}
	if u, err := url.Parse(a.tokenURL); err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, wrong("token_url", fmt.Errorf("%q is no https URL", c.TokenURL))
	}
	var err error
	if a.address, err = setting.Address("apps."+name+".endpoint", c.Endpoint, huaweiHost); err != nil {
		return nil, err
	}
	return a, nil
}

// isID tells whether text can be an app's id: it becomes a part of a path.
func isID(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return text != "" && len(text) <= 100
}
