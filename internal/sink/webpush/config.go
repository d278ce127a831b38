package webpush

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// Config is the sink's settings.
type Config struct {
	// KeyFile is the application server's private key: PEM, or its 32 bytes in base64url. It is read again when it has
	// changed.
	KeyFile string `yaml:"key_file" required:"true" file:"read"`
	// Subject is whom a push service may turn to: mailto:… or https://…
	Subject string `yaml:"subject" required:"true"`
	// Payload is a jq program that makes the text of a message; it sees the body as ".", and $attributes, $id, $key,
	// $time and $expires. Not set: the body is the text.
	Payload string `yaml:"payload"`
	// Urgency is that of messages whose attribute urgency does not say. Not set: normal, as push services take it.
	Urgency string `yaml:"urgency" oneof:"very-low low normal high"`
	// Topic is that of messages whose attribute topic does not say.
	Topic string `yaml:"topic"`
	// Backlog is the queue where pushes wait, each a message with the attributes that it has here. With it, a push is
	// dropped when a newer one with its device and topic waits there. Not set: only what was here before is known.
	Backlog string `yaml:"backlog"`
	// TTL is how long after a message's time a push service keeps it for a browser that sleeps, and after which it is
	// dropped here. A message's own expiration or expiry comes first. Not set: four weeks.
	TTL time.Duration `yaml:"ttl"`
	// Services are the hosts of push services that may be posted to, as push.example.com, push.example.com:8443, or
	// *.example.com for all below; "*" is any. Not set: those of the usual browsers.
	Services []string `yaml:"services"`
	// CAFile has the certificates to trust instead of the system's.
	CAFile string `yaml:"ca_file" file:"read"`
	// Feedback is the queue or topic where subscriptions that are gone are reported. Not set: they are not.
	Feedback string `yaml:"feedback"`
	// Receipts is the queue or topic that gets a receipt of each message that the sink is done with: what became of it,
	// its id at the far end, and when it passed each step. Not set: there are none.
	Receipts string `yaml:"receipts"`
	// Proxy is the HTTP proxy to the far end: http://host:port or https://host:port, with user:password@ before the
	// host where it asks for them; or direct: none. Not set: as HTTPS_PROXY and NO_PROXY of the environment say.
	Proxy string `yaml:"proxy" secret:"true"`
	// DeadFor is how long a subscription that is gone is remembered. Not set: for ever.
	DeadFor time.Duration `yaml:"dead_for"`
	// SuspectPercent of the last SuspectAnswers answers may refuse the VAPID token. When more do, the key is taken for
	// wrong: the push service rests, and no message is lost. 0: 5.
	SuspectPercent int `yaml:"suspect_percent" min:"0" max:"100"`
	// SuspectAnswers is how many of the last answers that looks at. 0: 200.
	SuspectAnswers int `yaml:"suspect_answers" min:"0" max:"100000"`
	// Connections is the most connections to one push service; more than one is made only when all streams are in use.
	// 0: 2.
	Connections int `yaml:"connections" min:"0" max:"1000"`
	// MaxServices is how many push services are kept connected at once. 0: 64.
	MaxServices int `yaml:"max_services" min:"0" max:"10000"`
}

// usual are the push services of Chrome and its relatives, Firefox, Safari and Edge.
var usual = []string{
	"fcm.googleapis.com", "jmt17.google.com", "updates.push.services.mozilla.com", "*.push.services.mozilla.com",
	"*.push.apple.com", "*.notify.windows.com",
}

const (
	defaultConnections = 2
	defaultServices    = 64
	streamsEach        = 100 // that a connection is expected to have
	longestTTL         = 28 * 24 * time.Hour
)

// New checks the settings. Nothing is read or opened yet.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{
		name: env.Name, caFile: c.CAFile, urgency: c.Urgency, topic: c.Topic, ttl: c.TTL, deadFor: c.DeadFor,
		services:    c.Services,
		connections: c.Connections, most: c.MaxServices, clock: time.Now, reach: env.Outbound, seed: maphash.MakeSeed(),
	}
	if env.Store != nil {
		s.store = env.Store
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	s.dead = dead.New(dead.Config{
		Store: s.store, Room: s.name, Platform: "webpush", Feedback: s.feedback, Memory: s.deadFor,
		Clock: func() time.Time { return s.clock() },
	})
	percent := cmp.Or(c.SuspectPercent, suspect.DefaultPercent)
	s.watches.config = func(origin string) suspect.Config {
		return suspect.Config{
			Percent: percent, Answers: c.SuspectAnswers, Equal: true, Clock: func() time.Time { return s.clock() },
			Mistake: func(seen suspect.Seen) error { return mistake(origin, percent, seen) },
		}
	}
	var err error
	if s.backlog, err = setting.Backlog(c.Backlog, env.Store, "subscription", "topic", "endpoint"); err != nil {
		return nil, err
	}
	s.Begin = s.begin
	return s, nil
}

func (s *Sink) check(c Config) error {
	if c.KeyFile == "" {
		return component.Setting("key_file", errors.New("is missing: name the application server's private key"))
	}
	var err error
	if s.tokens, err = token.NewVAPID(token.VAPIDConfig{File: c.KeyFile, Subject: c.Subject}); err != nil {
		return component.Setting("subject", err)
	}
	if !isUrgency(c.Urgency) {
		return component.Setting("urgency", fmt.Errorf("%q is none of very-low, low, normal and high", c.Urgency))
	}
	if err := setting.Durations(c.TTL, c.DeadFor); err != nil {
		return err
	}
	if c.TTL > longestTTL {
		return component.Setting("ttl", fmt.Errorf("%v is longer than push services keep a message: four weeks", c.TTL))
	}
	if err := setting.Hosts("services", c.Services); err != nil {
		return err
	}
	if len(c.Services) == 0 {
		s.services = usual
	}
	for name, n := range map[string]*int{"connections": &s.connections, "max_services": &s.most} {
		if *n < 0 {
			return component.Setting(name, fmt.Errorf("%d is negative", *n))
		}
	}
	if s.connections == 0 {
		s.connections = defaultConnections
	}
	if s.most == 0 {
		s.most = defaultServices
	}
	s.proxy = c.Proxy
	s.program, s.feedback, err = s.Read("payload", c.Payload, c.Feedback, c.Receipts, c.Proxy)
	return err
}

func isUrgency(text string) bool {
	return slices.Contains([]string{"", "very-low", "low", "normal", "high"}, text)
}
