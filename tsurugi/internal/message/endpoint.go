package message

import "github.com/hikyaku/hikyaku/tsurugi/internal/wire"

// An EndpointRequest is for the endpoint service; exactly one of its parts is set.
type EndpointRequest struct {
	Version       wire.Version
	Handshake     *Handshake
	Cancel        bool // the request of the same slot
	EncryptionKey bool
}

// A Handshake begins a session.
type Handshake struct {
	Label      string // shown in the server's list of sessions
	App        string
	Encrypted  string // credentials
	Token      string // instead of credentials
	ResultSets uint64 // how many may be open at a time
	Stream     bool   // over TCP
	Media      []Medium
}

// A Medium is a way in which large objects go; a client lists those that it takes, the one it likes best first.
type Medium uint64

// The media.
const (
	NoMedium        Medium = 0
	PrivilegedFiles Medium = 1 // the server opens files by their paths
	RelayMedium     Medium = 2
)

// A Relay is the service, of gRPC, that takes and gives large objects.
type Relay struct {
	Session  uint64 // as the relay counts
	Endpoint string // a target of gRPC
	Secure   bool
	Medium   string // the kind of service
	Params   map[string]string
}

func (r *Relay) append(b []byte) []byte {
	b = wire.Uint(b, 1, r.Session)
	b = wire.Text(b, 2, r.Endpoint)
	b = wire.Bool(b, 3, r.Secure)
	b = wire.Text(b, 4, r.Medium)
	for name, v := range r.Params {
		b = wire.Nested(b, 5, func(b []byte) []byte { return wire.Text(wire.Text(b, 1, name), 2, v) })
	}
	return b
}

func parseRelay(b []byte) (*Relay, error) {
	r := &Relay{Params: make(map[string]string)}
	return r, wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			r.Session = f.Int
		case 2:
			r.Endpoint = f.String()
		case 3:
			r.Secure = f.Int != 0
		case 4:
			r.Medium = f.String()
		case 5:
			var name, v string
			err := wire.Fields(f.Bytes, func(f wire.Field) error {
				switch f.Num {
				case 1:
					name = f.String()
				case 2:
					v = f.String()
				}
				return nil
			})
			r.Params[name] = v
			return err
		}
		return nil
	})
}

// field numbers of an EndpointRequest.
const (
	fieldHandshake     = 11
	fieldCancel        = 12
	fieldEncryptionKey = 13
)

// Append appends the request.
func (r EndpointRequest) Append(b []byte) []byte {
	b = wire.Uint(b, 1, r.Version.Major)
	b = wire.Uint(b, 2, r.Version.Minor)
	switch {
	case r.Handshake != nil:
		return wire.Nested(b, fieldHandshake, r.Handshake.append)
	case r.Cancel:
		return wire.Always(b, fieldCancel, "")
	default:
		return wire.Always(b, fieldEncryptionKey, "")
	}
}

func (h *Handshake) append(b []byte) []byte {
	b = wire.Nested(b, 1, func(b []byte) []byte {
		b = wire.Text(b, 1, h.Label)
		b = wire.Text(b, 2, h.App)
		if h.Encrypted == "" && h.Token == "" {
			return b
		}
		return wire.Nested(b, 3, func(b []byte) []byte {
			if h.Token != "" {
				return wire.Text(b, 2, h.Token)
			}
			return wire.Text(b, 1, h.Encrypted)
		})
	})
	for _, m := range h.Media {
		b = wire.Nested(b, 2, func(b []byte) []byte { return wire.Uint(b, 1, uint64(m)) })
	}
	return wire.Nested(b, 11, func(b []byte) []byte {
		return wire.Nested(b, 2, func(b []byte) []byte { return wire.Uint(b, 1, h.ResultSets) })
	})
}

// ParseEndpointRequest reads a request.
func ParseEndpointRequest(b []byte) (r EndpointRequest, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			r.Version.Major = f.Int
		case 2:
			r.Version.Minor = f.Int
		case fieldHandshake:
			r.Handshake = new(Handshake)
			return r.Handshake.parse(f.Bytes)
		case fieldCancel:
			r.Cancel = true
		case fieldEncryptionKey:
			r.EncryptionKey = true
		}
		return nil
	})
	return r, err
}

func (h *Handshake) parse(b []byte) error {
	return wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			return h.parseClient(f.Bytes)
		case 2:
			m := NoMedium
			err := wire.Fields(f.Bytes, func(f wire.Field) error {
				if f.Num == 1 {
					m = Medium(f.Int)
				}
				return nil
			})
			h.Media = append(h.Media, m)
			return err
		case 11:
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				if f.Num != 2 {
					return nil
				}
				h.Stream = true
				return wire.Fields(f.Bytes, func(f wire.Field) error {
					if f.Num == 1 {
						h.ResultSets = f.Int
					}
					return nil
				})
			})
		}
		return nil
	})
}

func (h *Handshake) parseClient(b []byte) error {
	return wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			h.Label = f.String()
		case 2:
			h.App = f.String()
		case 3:
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				switch f.Num {
				case 1:
					h.Encrypted = f.String()
				case 2:
					h.Token = f.String()
				}
				return nil
			})
		}
		return nil
	})
}

// An EndpointAnswer is the answer to a handshake, or to the question for the key; both have the same shape.
type EndpointAnswer struct {
	Session uint64 // of a handshake
	User    string // of a handshake with credentials
	Relay   *Relay // of a handshake that asks for it
	Key     string // a PEM of an RSA public key
	Error   *wire.Diagnostic
}

// field numbers of an answer's result, here and in most services.
const (
	fieldSuccess = 11
	fieldError   = 12
)

// Append appends the answer.
func (a EndpointAnswer) Append(b []byte) []byte {
	if a.Error != nil {
		return wire.Nested(b, fieldError, func(b []byte) []byte {
			b = wire.Text(b, 1, a.Error.Message)
			return wire.Uint(b, 2, a.Error.Code)
		})
	}
	return wire.Nested(b, fieldSuccess, func(b []byte) []byte {
		if a.Key != "" {
			return wire.Text(b, 11, a.Key)
		}
		b = wire.Uint(b, 11, a.Session)
		b = wire.Text(b, 12, a.User)
		if a.Relay == nil {
			return b
		}
		return wire.Nested(b, 14, a.Relay.append)
	})
}

// ParseEndpointAnswer reads an answer.
func ParseEndpointAnswer(b []byte) (a EndpointAnswer, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case fieldError:
			a.Error = new(wire.Diagnostic)
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				switch f.Num {
				case 1:
					a.Error.Message = f.String()
				case 2:
					a.Error.Code = f.Int
				case 4:
					if f.String() != "" {
						a.Error.Message += " (" + f.String() + ")"
					}
				}
				return nil
			})
		case fieldSuccess:
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				switch {
				case f.Num == 11 && len(f.Bytes) > 0:
					a.Key = f.String()
				case f.Num == 11:
					a.Session = f.Int
				case f.Num == 12:
					a.User = f.String()
				case f.Num == 14:
					var err error
					a.Relay, err = parseRelay(f.Bytes)
					return err
				}
				return nil
			})
		}
		return nil
	})
	return a, err
}
