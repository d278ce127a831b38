package config

import (
	"errors"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/api/pubsub"
	"github.com/hikyaku/hikyaku/internal/api/sqs"
)

// API are the doors. A door that is not mentioned is open on loopback.
type API struct {
	HTTP   http.Config     `yaml:"http" doc:"HTTP and JSON. off: true closes it."`
	MySQL  settings.Config `yaml:"mysql" doc:"The MySQL protocol: queues are tables of ENGINE=QUEUE. off: true closes it."`
	PubSub pubsub.Config   `yaml:"pubsub" doc:"Google Pub/Sub, over gRPC and REST on one port. off: true closes it."`
	SQS    sqs.Config      `yaml:"sqs" doc:"Amazon SQS, in its JSON and its query protocol. off: true closes it."`
	Lambda lambda.Config   `yaml:"lambda" doc:"AWS Lambda: invokes and deploys functions. off: true closes it."`
}

// userSettings are the users of every door.
type userSettings []access.User

// decodeNode reads a list of users, or a mapping from their names to the rest.
func (us *userSettings) decodeNode(d *decoder, n *node, path string) {
	var check access.Checker
	add := func(n *node, at place, path, name string) {
		u := access.User{Name: name}
		before := d.mistakes()
		if n.kind != kindMap && n.kind != kindNull {
			d.conceal(n) // the secret may stand in place of the settings
		}
		if name == "" {
			d.mapping(n, path, &u)
		} else {
			var rest struct {
				Secret     access.Secret   `yaml:"secret"`
				Secrets    []access.Secret `yaml:"secrets"`
				SecretHash []access.Secret `yaml:"secret_hash"`
				SecretFile string          `yaml:"secret_file" file:"read"`
				Grants     []access.Grant  `yaml:"grants"`
			}
			d.mapping(n, path, &rest)
			u.Secret, u.Secrets, u.SecretHash, u.SecretFile, u.Grants = rest.Secret, rest.Secrets, rest.SecretHash,
				rest.SecretFile, rest.Grants
		}
		if d.mistakes() > before {
			return
		}
		if err := check.Add(&u); err != nil {
			d.at(at, "", "%s: %s", path, withoutSentinel(err, access.ErrUsers))
			return
		}
		*us = append(*us, u)
	}
	switch n.kind {
	case kindNull:
	case kindList:
		for i, item := range n.items {
			add(item, item.at, indexed(path, i), "")
		}
	case kindMap:
		for _, p := range n.pairs {
			add(p.value, p.at, join(path, p.key), p.key)
		}
	default:
		d.wrong(n, path, "a list of users")
	}
}

// withoutSentinel takes the general part off an error's text: the place says it already.
func withoutSentinel(err, sentinel error) string {
	text := err.Error()
	if i := indexAfter(text, sentinel.Error()+": "); errors.Is(err, sentinel) && i >= 0 {
		return text[i:]
	}
	return text
}

// checkDoors checks the doors' settings against the users.
func (d *decoder) checkDoors(root *node, api *API, users []access.User) {
	for _, door := range []struct {
		name     string
		err      error
		sentinel error
	}{
		{"http", api.HTTP.Check(len(users) > 0), http.ErrConfig},
		{"mysql", api.MySQL.Check(len(users) > 0), settings.ErrConfig},
		{"pubsub", api.PubSub.Check(len(users) > 0), pubsub.ErrConfig},
		{"sqs", api.SQS.Check(len(users) > 0), sqs.ErrConfig},
		{"lambda", api.Lambda.Check(len(users) > 0), lambda.ErrConfig},
	} {
		if door.err == nil {
			continue
		}
		text := withoutSentinel(door.err, door.sentinel)
		key, _, _ := strings.Cut(strings.ReplaceAll(text, ":", " "), " ") // the door's errors begin with the key
		if errors.Is(door.err, access.ErrExposed) {
			key = "listen"
		}
		_, at := root.lookUp("api." + door.name + "." + key)
		d.at(at, "", "api.%s: %s", door.name, text).cause = door.err
	}
}
