package tsurugidb

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// Config is the sink's settings.
type Config struct {
	Endpoint        string          `yaml:"endpoint" required:"true" doc:"Where the server is: tcp://host:port."`
	TransactionType TransactionType `yaml:"transaction_type" default:"occ" doc:"How a batch is kept apart from other transactions: occ, which may lose a conflict and is then done again; or ltx, a long transaction that announces the table that it writes."`
	Credential      Credential      `yaml:"credential" doc:"Who the sink is, for a server that asks."`
	rows.Config     `yaml:",inline"`
}

// Credential is what the sink shows to a server that asks.
type Credential struct {
	Type     string `yaml:"type" oneof:"user_password auth_token" doc:"user_password or auth_token. Not set: what the other settings say."`
	User     string `yaml:"user" doc:"Of user_password: the user's name."`
	Password string `yaml:"password" secret:"true" doc:"Of user_password: the password. It is sent encrypted with a key of the server's."`
	Token    string `yaml:"token" secret:"true" doc:"Of auth_token: a token that the server, or its authentication service, gave out."`
}

// TransactionType is occ or ltx, in any case of letters.
type TransactionType tsurugi.TxType

// UnmarshalText reads the setting.
func (t *TransactionType) UnmarshalText(text []byte) error {
	switch strings.ToLower(string(text)) {
	case "occ":
		*t = TransactionType(tsurugi.OCC)
	case "ltx":
		*t = TransactionType(tsurugi.LTX)
	default:
		return errors.New("it takes occ or ltx")
	}
	return nil
}

// String writes what UnmarshalText reads.
func (t TransactionType) String() string {
	if t == TransactionType(tsurugi.LTX) {
		return "ltx"
	}
	return "occ"
}

// New checks the settings and connects to nothing.
func New(c Config, env component.Env) (component.Sink, error) {
	if err := checkEndpoint(c.Endpoint); err != nil {
		return nil, err
	}
	credential, err := c.Credential.made()
	if err != nil {
		return nil, err
	}
	name, err := rows.ParseName(c.Table)
	if err != nil {
		return nil, component.Setting("table", err)
	}
	if len(name) > 1 && name[len(name)-2] != "public" {
		return nil, &component.SettingError{Setting: "table", Offset: -1, Err: fmt.Errorf("TsurugiDB has no schema %q", name[len(name)-2]), Hint: "write the table's name alone"}
	}
	d := newDriver(c.Endpoint, credential, tsurugi.TxType(c.TransactionType))
	d.strict = c.Missing == "reject"
	sink, err := rows.New(d, c.Config, env)
	if err != nil {
		return nil, err
	}
	return sink, nil
}

func checkEndpoint(endpoint string) error {
	const hint = "write tcp://host:port; the port is 12345 if there is none"
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.User != nil || u.RawQuery != "":
		return &component.SettingError{Setting: "endpoint", Offset: -1, Err: errors.New("this is no endpoint"), Hint: hint}
	case u.Scheme == "ipc":
		return &component.SettingError{Setting: "endpoint", Offset: -1, Err: errors.New("the server's shared memory is not spoken to, only its TCP port"), Hint: hint}
	case u.Scheme != "tcp":
		return &component.SettingError{Setting: "endpoint", Offset: -1, Err: fmt.Errorf("%s is not how a TsurugiDB server is reached", u.Scheme), Hint: hint}
	}
	return nil
}

// made is the credential for the client.
func (c Credential) made() (tsurugi.Credential, error) {
	wrong := func(setting, what, hint string) (tsurugi.Credential, error) {
		return tsurugi.Credential{}, &component.SettingError{Setting: "credential." + setting, Offset: -1, Err: errors.New(what), Hint: hint}
	}
	kind := c.Type
	if kind == "" {
		switch {
		case c == (Credential{}):
			return tsurugi.Credential{}, nil
		case c.Token != "":
			kind = "auth_token"
		default:
			kind = "user_password"
		}
	}
	switch {
	case kind == "auth_token" && (c.User != "" || c.Password != ""):
		return wrong("user", "a token needs no user and no password", "leave one or the other out")
	case kind == "auth_token" && c.Token == "":
		return wrong("token", "is missing", "")
	case kind == "auth_token":
		return tsurugi.Token(c.Token), nil
	case c.Token != "":
		return wrong("token", "a user's name and password need no token", "leave one or the other out, or set type to auth_token")
	case c.User == "":
		return wrong("user", "is missing", "")
	case len(c.User) > mostCredential || len(c.Password) > mostCredential:
		return wrong("user", fmt.Sprintf("the name or the password is longer than the %d bytes that the server's key can encrypt", mostCredential), "")
	}
	return tsurugi.UserPassword(c.User, c.Password), nil
}

// mostCredential is how long a user's name and a password may be, in bytes.
const mostCredential = 60
