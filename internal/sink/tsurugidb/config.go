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
	Type     string `yaml:"type" oneof:"user_password auth_token file" doc:"user_password, auth_token or file. Not set: what the other settings say."`
	User     string `yaml:"user" doc:"Of user_password: the user's name."`
	Password string `yaml:"password" secret:"true" doc:"Of user_password: the password. It is sent encrypted with a key of the server's."`
	Token    string `yaml:"token" secret:"true" doc:"Of auth_token: a token that the server, or its authentication service, gave out."`
	File     string `yaml:"file" file:"read" doc:"Of file: a file that tgctl credentials wrote, with a user's name and password that were encrypted with the server's key. It is read for each connection, so a newer one may take its place."`
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
		return nil, &component.SettingError{Setting: "table", Offset: -1,
			Err: fmt.Errorf("TsurugiDB has no schema %q", name[len(name)-2]), Hint: "write the table's name alone"}
	}
	d := newDriver(c.Endpoint, tsurugi.TxType(c.TransactionType))
	d.credential, d.strict = credential, c.Missing == "reject"
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
		return &component.SettingError{Setting: "endpoint", Offset: -1, Err: errors.New("this is no endpoint"),
			Hint: hint}
	case u.Scheme == "ipc":
		return &component.SettingError{Setting: "endpoint", Offset: -1,
			Err: errors.New("the server's shared memory is not spoken to, only its TCP port"), Hint: hint}
	case u.Scheme != "tcp":
		return &component.SettingError{Setting: "endpoint", Offset: -1,
			Err: fmt.Errorf("%s is not how a TsurugiDB server is reached", u.Scheme), Hint: hint}
	}
	return nil
}

// kind is the credential's type; "": there is none.
func (c Credential) kind() string {
	switch {
	case c.Type != "" || c == (Credential{}):
		return c.Type
	case c.File != "":
		return "file"
	case c.Token != "":
		return "auth_token"
	}
	return "user_password"
}

// made checks the credential. What it gives is called for each connection.
func (c Credential) made() (func() (tsurugi.Credential, error), error) {
	wrong := func(setting, what, hint string) (func() (tsurugi.Credential, error), error) {
		return nil, &component.SettingError{Setting: "credential." + setting, Offset: -1, Err: errors.New(what),
			Hint: hint}
	}
	always := func(made tsurugi.Credential) (func() (tsurugi.Credential, error), error) {
		return func() (tsurugi.Credential, error) { return made, nil }, nil
	}
	kind := c.kind()
	switch {
	case kind == "":
		return always(tsurugi.Credential{})
	case kind == "file" && (c.User != "" || c.Password != "" || c.Token != ""):
		return wrong("file", "holds the user's name and password, which need no other setting",
			"leave one or the other out")
	case kind == "file" && c.File == "":
		return wrong("file", "is missing", "make it with tgctl credentials")
	case kind == "file":
		return func() (tsurugi.Credential, error) { return tsurugi.CredentialFile(c.File) }, nil
	case c.File != "":
		return wrong("file", "needs type: file", "leave type out, or set it to file")
	case kind == "auth_token" && (c.User != "" || c.Password != ""):
		return wrong("user", "a token needs no user and no password", "leave one or the other out")
	case kind == "auth_token" && c.Token == "":
		return wrong("token", "is missing", "")
	case kind == "auth_token":
		return always(tsurugi.Token(c.Token))
	case c.Token != "":
		return wrong("token", "a user's name and password need no token",
			"leave one or the other out, or set type to auth_token")
	case c.User == "":
		return wrong("user", "is missing", "")
	case len(c.User) > mostCredential || len(c.Password) > mostCredential:
		return wrong("user", fmt.Sprintf("the name or the password is longer than the %d bytes that the server's key "+
			"can encrypt", mostCredential), "")
	}
	return always(tsurugi.UserPassword(c.User, c.Password))
}

// mostCredential is how long a user's name and a password may be, in bytes.
const mostCredential = 60
