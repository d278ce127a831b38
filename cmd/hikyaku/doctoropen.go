package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	pubsubdoor "github.com/hikyaku/hikyaku/internal/api/pubsub"
	sqsdoor "github.com/hikyaku/hikyaku/internal/api/sqs"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/doctor"
)

// doorAt is where a door listens.
type doorAt struct {
	name   string
	listen string
	tls    bool
	off    bool
	yields bool // it stays closed where its port is taken
}

// doorsOf are all doors, as a configuration has them.
func doorsOf(api *config.API) []doorAt {
	at := func(name, listen, usual string, t access.TLS, off bool) doorAt {
		return doorAt{name, cmp.Or(listen, usual), t.On(), off, listen == "" && name != "http"}
	}
	return []doorAt{
		at("http", api.HTTP.Listen, httpdoor.DefaultListen, api.HTTP.TLS, api.HTTP.Off),
		at("mysql", api.MySQL.Listen, settings.DefaultListen, api.MySQL.TLS, api.MySQL.Off),
		at("pubsub", api.PubSub.Listen, pubsubdoor.DefaultListen, api.PubSub.TLS, api.PubSub.Off),
		at("sqs", api.SQS.Listen, sqsdoor.DefaultListen, api.SQS.TLS, api.SQS.Off),
		at("lambda", api.Lambda.Listen, lambdadoor.DefaultListen, api.Lambda.TLS, api.Lambda.Off),
	}
}

func (p *patient) ports(ctx context.Context) (found []doctor.Finding) {
	look := func(port doctor.Port) { found = append(found, port.Look(ctx, p.server)) }
	for _, d := range doorsOf(&p.file.API) {
		if !d.off {
			look(doctor.Port{Name: "door " + d.name, Setting: "api: " + d.name + ": listen:", Address: d.listen,
				Yields: d.yields})
		}
	}
	for _, l := range p.file.Listeners() {
		look(doctor.Port{Name: "source " + l.Name, Setting: l.Setting, Address: l.Address, UDP: l.UDP})
	}
	if p.file.Cluster.On() {
		look(doctor.Port{Name: "other nodes", Setting: "cluster: listen:", Address: p.file.Cluster.Own()})
	}
	return found
}

// open says who may come in where.
func (p *patient) open(ctx context.Context) (found []doctor.Finding) {
	f := p.file
	note := func(level doctor.Level, what, means, do string) {
		found = append(found, doctor.Finding{Area: "open", Level: level, What: what, Means: means, Do: do})
	}
	for _, d := range doorsOf(&f.API) {
		if !d.off {
			level, means, do := p.stranger(ctx, &d)
			note(level, fmt.Sprintf("door %s, %s, %s", d.name, d.listen, reach(d.listen, d.tls)), means, do)
		}
	}
	for _, l := range f.Listeners() {
		means := "whoever reaches it can send to it"
		if l.Asks != "" {
			means = "it asks for " + l.Asks
		}
		level, do := doctor.OK, ""
		if !access.Loopback(l.Address) && !l.TLS {
			level, do = doctor.Warn, "set "+strings.TrimSuffix(l.Setting, "listen")+"tls:, or keep it to a network "+
				"of your own"
		}
		note(level, fmt.Sprintf("source %s, %s, %s", l.Name, l.Address, reach(l.Address, l.TLS)), means, do)
	}
	if f.Cluster.On() {
		note(doctor.OK, fmt.Sprintf("other nodes, %s, %s", f.Cluster.Own(), reach(f.Cluster.Own(), false)),
			"whoever has the cluster's secret has all messages", "")
	}
	for i, u := range f.Users {
		if i == shownUsers {
			note(doctor.OK, fmt.Sprintf("and %d more users", len(f.Users)-i), "", "")
			break
		}
		note(doctor.OK, "user "+u.Name, may(&u), "")
	}
	return found
}

const shownUsers = 20

// reach says from where an address is reached.
func reach(listen string, tls bool) string {
	where := "from other machines"
	if access.Loopback(listen) {
		where = "from this machine alone"
	}
	if tls {
		return where + ", with TLS"
	}
	return where + ", without TLS"
}

// stranger says what one may do at a door whom nobody knows.
func (p *patient) stranger(ctx context.Context, d *doorAt) (level doctor.Level, means, do string) {
	f := p.file
	level = doctor.OK
	switch {
	case len(f.Users) > 0:
		means = "without a secret nothing can be done there"
		switch d.name {
		case "http":
			means = "without a secret it says that it is alive, whether it is ready, and what its operations are, " +
				"and " +
				"nothing else"
		case "lambda":
			if open := f.OpenToAnyone(); len(open) > 0 {
				level = doctor.Warn
				means = "without a secret these functions can be invoked by their URLs, and nothing else: " +
					strings.Join(open, ", ")
				do = "set url: iam for what is not meant for anyone"
			} else {
				means += ", but invoke functions that were given a URL for anyone since"
			}
		}
		if !access.Loopback(d.listen) && !d.tls {
			return doctor.Warn, means + "; secrets and messages are readable on the way", "set api: " + d.name + ": " +
				"tls:"
		}
		return level, means, do
	case f.Access.LocalAccounts == access.AnyAccount || !caller.Supported:
		means = "every account of this machine may put, take, delete and administer there"
		if d.name == "lambda" {
			means = "every account of this machine may deploy functions there, which are run as this account"
		}
		return doctor.Warn, means, "add users:, or leave access: local_accounts: any out where accounts can be told " +
			"apart"
	}
	if err := caller.Probe(ctx); err != nil {
		return doctor.Warn, "whose a connection is cannot be told: what administers is refused to everybody (" +
			err.Error() +
			")", "add users:"
	}
	own := fmt.Sprintf("uid %d", os.Geteuid())
	if d.name == "lambda" {
		return doctor.OK, "without users this account (" + own + ") and root may use it, and no other", ""
	}
	return doctor.OK, "without users every account of this machine may put and take there; only this account (" + own +
		") and root may create, delete and administer", ""
}

// may says what a user may do.
func may(u *access.User) string {
	if len(u.Grants) == 0 {
		return "may do nothing"
	}
	var all []string
	for _, g := range u.Grants {
		all = append(all, fmt.Sprintf("%s on %s", strings.Join(g.Can, ", "), strings.Join(g.On, ", ")))
		if slices.Contains(g.Can, "admin") && slices.Contains(g.On, "*") {
			all[len(all)-1] += " (deploy functions, too)"
		}
	}
	return "may " + strings.Join(all, "; ")
}
