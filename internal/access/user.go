package access

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Action is something a user may be allowed to do with a queue or topic.
type Action string

const (
	// Put is to put messages into a queue and to publish to a topic.
	Put Action = "put"
	// Take is to see messages, to claim and to settle them.
	Take Action = "take"
	// Admin is to create, alter, delete, purge, replay, seek and take snapshots. It does not include the others.
	Admin Action = "admin"
	// Push is to push to a device by way of a sink of that name, past every queue and transform before it, and to see
	// and control the campaigns of a queue of that name.
	Push Action = "push"
)

// Actions lists all of them.
func Actions() []Action { return []Action{Put, Take, Admin, Push} }

// User is one who may come in.
//
// Any of the secrets lets the user in: there are several while a new one replaces an old one. Where only a hash is
// known, the secret has to be sent to be checked: HTTP, Pub/Sub and MySQL's caching_sha2_password and
// mysql_clear_password do so. Signature Version 4 (SQS, Lambda) and mysql_native_password need the secret itself.
type User struct {
	Name string `yaml:"name"`
	// Secret is what the user proves to have.
	Secret Secret `yaml:"secret"`
	// Secrets are further ones.
	Secrets []Secret `yaml:"secrets"`
	// SecretHash are argon2id hashes of secrets, as $argon2id$v=19$m=19456,t=2,p=1$salt$hash.
	SecretHash []Secret `yaml:"secret_hash"`
	// SecretFile has a secret, or a hash, in each line. It is read again when it changes.
	SecretFile string  `yaml:"secret_file" file:"read"`
	Grants     []Grant `yaml:"grants"`

	keys []*credential // all of them, since New
}

// HashOnly tells whether no secret of the user is known but by its hash.
func (u *User) HashOnly() bool {
	for _, c := range u.keys {
		if c.hash == nil {
			return false
		}
	}
	return true
}

// Hashed tells whether some secret of the user is known by its hash alone.
func (u *User) Hashed() bool {
	for _, c := range u.keys {
		if c.hash != nil {
			return true
		}
	}
	return false
}

// Known are the secrets that are known themselves, for protocols in which both sides compute with them.
func (u *User) Known() (secrets []string) {
	for _, c := range u.keys {
		if c.hash == nil {
			secrets = append(secrets, c.secret.Reveal())
		}
	}
	return secrets
}

// Grant allows every action of Can on every name that a pattern of On matches.
//
// A pattern is namespace/name or, without a slash, a name in the default namespace; * stands for any run of characters
// but the slash. The pattern * alone is everything in every namespace. Names are compared after aliases of namespaces
// are resolved.
type Grant struct {
	Can []string `yaml:"can"`
	On  []string `yaml:"on"`
}

// String shows the user without the secret.
func (u User) String() string { return "user " + u.Name }

// GoString shows the user without the secret.
func (u User) GoString() string {
	return fmt.Sprintf("access.User{Name:%q, Secret:%q, Grants:%+v}", u.Name, u.Secret.String(), u.Grants)
}

// LogValue shows the user without the secret.
func (u User) LogValue() slog.Value { return slog.StringValue(u.Name) }

// ErrUsers is what every error of New is.
var ErrUsers = errors.New("users are not valid")

// MinSecretBytes is the least length of a secret.
const MinSecretBytes = 6

// check says what is wrong with one user, whatever the others are.
func (u *User) check() error {
	switch {
	case u.Name == "":
		return fmt.Errorf("%w: a user has no name (give each a name: of its own)", ErrUsers)
	case strings.ContainsAny(u.Name, ":\x00\r\n"):
		return fmt.Errorf("%w: user %q: a name has no colon and no line end", ErrUsers, u.Name)
	case u.Secret == "" && len(u.Secrets) == 0 && len(u.SecretHash) == 0 && u.SecretFile == "":
		return fmt.Errorf("%w: user %s has no secret (secret: ${NAME} takes it from the environment; secret_hash: "+
			"and secret_file: serve, too)", ErrUsers, u.Name)
	}
	for i, g := range u.Grants {
		if err := g.check(); err != nil {
			return fmt.Errorf("%w: user %s, grant %d: %w", ErrUsers, u.Name, i+1, err)
		}
	}
	return nil
}

func (g *Grant) check() error {
	if len(g.Can) == 0 {
		return errors.New("can: is empty (put, take, admin and push are what can be granted)")
	}
	if len(g.On) == 0 {
		return errors.New(`on: is empty (name queues and topics, with * for any run of characters; "*" is everything)`)
	}
	for _, can := range g.Can {
		if !slices.Contains(Actions(), Action(can)) {
			return fmt.Errorf("can: %q is nothing that can be granted (put, take, admin and push are)", can)
		}
	}
	for _, on := range g.On {
		if err := checkPattern(on); err != nil {
			return fmt.Errorf("on: %w", err)
		}
	}
	return nil
}
