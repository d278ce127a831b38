package wns

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
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
	// Payload is a jq program that makes what is sent: a text as it is (XML), anything else as JSON; it sees the body
	// as ".", and $attributes, $id, $key, $time and $expires. Not set: the body is that.
	Payload string `yaml:"payload"`
	// PushType is that of messages whose attribute push_type does not say. Not set: toast.
	PushType string `yaml:"push_type" oneof:"toast tile badge raw"`
	// Backlog is the queue where pushes wait, each a message with the attributes that it has here. With it, a push is
	// dropped when a newer one with its channel, type, tag and group waits there. Not set: only what was here before is
	// known.
	Backlog string `yaml:"backlog"`
	// TTL is how long after a message's time WNS may go on trying, and after which it is dropped here. A message's own
	// expiration or expiry comes first. Not set: as WNS has it.
	TTL time.Duration `yaml:"ttl"`
	// Hosts are those that may be posted to, as *.example.com for all below, or 127.0.0.1:2201. Not set:
	// notify.windows.com and all below it.
	Hosts []string `yaml:"hosts"`
	// CAFile has the certificates to trust instead of the system's.
	CAFile string `yaml:"ca_file" file:"read"`
	// Feedback is the queue or topic where channels that are gone are reported. Not set: they are not.
	Feedback string `yaml:"feedback"`
	// Receipts is the queue or topic that gets a receipt of each message that the sink is done with: what became of it,
	// its id at the far end, and when it passed each step. Not set: there are none.
	Receipts string `yaml:"receipts"`
	// Proxy is the HTTP proxy to the far end: http://host:port or https://host:port, with user:password@ before the
	// host where it asks for them; or direct: none. Not set: as HTTPS_PROXY and NO_PROXY of the environment say.
	Proxy string `yaml:"proxy" secret:"true"`
	// DeadFor is how long a channel that is gone is remembered. Not set: for ever. Channels end after 30 days.
	DeadFor time.Duration `yaml:"dead_for"`
	// SuspectPercent of the last SuspectAnswers answers may say that a channel is another app's. When more do, the
	// app's settings are probably wrong, and the app rests. 0: 5.
	SuspectPercent int `yaml:"suspect_percent" min:"0" max:"100"`
	// SuspectAnswers is how many of the last answers that looks at. 0: 200.
	SuspectAnswers int `yaml:"suspect_answers" min:"0" max:"100000"`
	// Connections is the most connections to one host of WNS, each with one message at a time as long as WNS speaks
	// HTTP/1.1. 0: 8.
	Connections int `yaml:"connections" min:"0" max:"1000"`
	// MaxHosts is how many hosts of WNS are kept connected at once. 0: 64.
	MaxHosts int `yaml:"max_hosts" min:"0" max:"10000"`
}

// App is one app and its secret.
type App struct {
	// ClientID is the package's security identifier (ms-app://…), or, with a tenant, the app's id in Microsoft Entra.
	ClientID string `yaml:"client_id"`
	// SecretFile has the app's secret, one line. It is read again when it has changed.
	SecretFile string `yaml:"secret_file" file:"read"`
	// Tenant is the directory of Microsoft Entra that the app is registered in. Not set: it is the Store's.
	Tenant string `yaml:"tenant"`
	// TokenURL is another place for access tokens than Microsoft's.
	TokenURL string `yaml:"token_url"`
}

const (
	storeTokens = "https://login.live.com/accesstoken.srf"
	entraTokens = "https://login.microsoftonline.com/%s/oauth2/v2.0/token"
	storeScope  = "notify.windows.com"
	entraScope  = "https://wns.windows.com/.default"

	defaultConnections = 8
	defaultHosts       = 64
	inFlight           = 512 // messages
)

// usual are the hosts of channels.
var usual = []string{"notify.windows.com", "*.notify.windows.com"}

var types = []string{"toast", "tile", "badge", "raw"}

// New checks the settings. Nothing is read or opened yet.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{
		name: env.Name, caFile: c.CAFile, pushType: cmp.Or(c.PushType, types[0]), ttl: c.TTL, deadFor: c.DeadFor,
		hosts: c.Hosts, connections: cmp.Or(c.Connections, defaultConnections), most: cmp.Or(c.MaxHosts, defaultHosts),
		apps: map[string]*app{}, clock: time.Now, reach: env.Outbound, seed: maphash.MakeSeed(),
	}
	if len(s.hosts) == 0 {
		s.hosts = usual
	}
	if env.Store != nil {
		s.store = env.Store
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	s.dead = dead.New(dead.Config{
		Store: s.store, Room: s.name, Platform: "wns", Feedback: s.feedback, Memory: s.deadFor,
		Clock: func() time.Time { return s.clock() },
	})
	backlog, err := setting.Backlog(c.Backlog, env.Store, "channel", "tag", "push_type", "group", "app")
	if err != nil {
		return nil, err
	}
	s.Begin = s.begin
	s.sender = &sender.Sender{
		Clock: func() time.Time { return s.clock() }, Dead: s.dead, Newest: &s.newest, Backlog: backlog,
		Failed: &s.failed, Counts: &s.counts, CountGone: countDead,
		Devices: &s.devices, Rests: errRests, Device: "channel", Token: "channel",
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
	if !slices.Contains(types, s.pushType) {
		return component.Setting("push_type", fmt.Errorf("%q is none of %s", c.PushType, strings.Join(types, ", ")))
	}
	if err := setting.Durations(c.TTL, c.DeadFor); err != nil {
		return err
	}
	if err := setting.Hosts("hosts", c.Hosts); err != nil {
		return err
	}
	for name, n := range map[string]int{"connections": c.Connections, "max_hosts": c.MaxHosts} {
		if n < 0 {
			return component.Setting(name, fmt.Errorf("%d is negative", n))
		}
	}
	var err error
	s.proxy = c.Proxy
	s.program, s.feedback, err = s.Read("payload", c.Payload, c.Feedback, c.Receipts, c.Proxy)
	return err
}

// newApp checks one app's settings.
func newApp(name string, c App) (*app, error) {
	wrong := func(setting string, err error) error { return component.Setting("apps."+name+"."+setting, err) }
	a := &app{Account: sender.Account{Kind: "app", Name: name}, config: c, tokenURL: storeTokens, scope: storeScope}
	if c.Tenant != "" {
		a.tokenURL, a.scope = fmt.Sprintf(entraTokens, url.PathEscape(c.Tenant)), entraScope
	}
	a.tokenURL = cmp.Or(c.TokenURL, a.tokenURL)
	u, err := url.Parse(a.tokenURL)
	switch {
	case c.ClientID == "":
		return nil, wrong("client_id", errors.New("is missing: it is the package's security identifier, ms-app://…, "+
			"or with a tenant the app's id in Microsoft Entra"))
	case c.SecretFile == "":
		return nil, wrong("secret_file", errors.New("is missing: name the file with the app's secret"))
	case err != nil || u.Scheme != "https" || u.Host == "":
		return nil, wrong("token_url", fmt.Errorf("%q is no https URL", c.TokenURL))
	}
	return a, nil
}
