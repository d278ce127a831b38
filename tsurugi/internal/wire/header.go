package wire

// A Service is one of the server's, which a request's header names.
type Service uint64

// The services that clients use.
const (
	Core     Service = 0 // sessions: life, end
	Endpoint Service = 1 // the connection: handshake, cancel
	SQL      Service = 3
)

// A Version is that of the messages of a service, or of the frames and headers.
type Version struct{ Major, Minor uint64 }

// The lowest versions that have what this client needs: servers refuse what is above their own.
var (
	FrameworkVersion = Version{0, 1}
	EndpointVersion  = Version{0, 1} // since then there are credentials
	RelayVersion     = Version{0, 2} // of the endpoint: since then a session may have a relay for large objects
	CoreVersion      = Version{0, 1}
	SQLVersion       = Version{2, 0}
)

// Above tells whether a server of version v does not know the requests of version w.
func (w Version) Above(v Version) bool {
	return w.Major > v.Major || w.Major == v.Major && w.Minor > v.Minor
}

// NoSession is the session's id in a header before the handshake has told it.
const NoSession = 1<<63 - 1

// A RequestHeader stands before a request.
type RequestHeader struct {
	Version Version // of the framework
	Service Service
	Session uint64
	Blobs   []Blob
}

// A Blob says where a large object is that a parameter or a result refers to by its channel.
type Blob struct {
	Channel   string
	Path      string // of a file on the server's machine
	Temporary bool
	Relayed   *RelayReference // in place of Path: what the relay has received
}

// A RelayReference is an object as the relay names it.
type RelayReference struct{ Storage, Object, Tag uint64 }

// Append appends it.
func (r RelayReference) Append(b []byte) []byte {
	return Uint(Uint(Uint(b, 1, r.Storage), 2, r.Object), 3, r.Tag)
}

// ParseRelayReference reads a reference.
func ParseRelayReference(b []byte) (r RelayReference, err error) {
	err = Fields(b, func(f Field) error {
		switch f.Num {
		case 1:
			r.Storage = f.Int
		case 2:
			r.Object = f.Int
		case 3:
			r.Tag = f.Int
		}
		return nil
	})
	return r, err
}

// AppendRequestHeader appends it, after its length.
func AppendRequestHeader(b []byte, h RequestHeader) []byte {
	return Delimited(b, func(b []byte) []byte {
		b = Uint(b, 1, h.Version.Major)
		b = Uint(b, 2, h.Version.Minor)
		b = Uint(b, 11, uint64(h.Service))
		b = Uint(b, 12, h.Session)
		return appendBlobs(b, h.Blobs)
	})
}

func appendBlobs(b []byte, blobs []Blob) []byte {
	if len(blobs) == 0 {
		return b
	}
	return Nested(b, 13, func(b []byte) []byte {
		for _, blob := range blobs {
			b = Nested(b, 1, func(b []byte) []byte {
				b = Text(b, 1, blob.Channel)
				b = Text(b, 2, blob.Path)
				b = Bool(b, 3, blob.Temporary)
				if blob.Relayed == nil {
					return b
				}
				return Nested(b, 4, blob.Relayed.Append)
			})
		}
		return b
	})
}

// CutRequestHeader takes the header, and returns the message behind it, which points into payload.
func CutRequestHeader(payload []byte) (RequestHeader, []byte, error) {
	head, rest, err := CutDelimited(payload)
	if err != nil {
		return RequestHeader{}, nil, err
	}
	var h RequestHeader
	err = Fields(head, func(f Field) error {
		switch f.Num {
		case 1:
			h.Version.Major = f.Int
		case 2:
			h.Version.Minor = f.Int
		case 11:
			h.Service = Service(f.Int)
		case 12:
			h.Session = f.Int
		case 13:
			var err error
			h.Blobs, err = blobs(f.Bytes)
			return err
		}
		return nil
	})
	if err != nil {
		return RequestHeader{}, nil, err
	}
	message, _, err := CutDelimited(rest)
	return h, message, err
}

func blobs(b []byte) (all []Blob, err error) {
	err = Fields(b, func(f Field) error {
		if f.Num != 1 {
			return nil
		}
		var blob Blob
		err := Fields(f.Bytes, func(f Field) error {
			switch f.Num {
			case 1:
				blob.Channel = f.String()
			case 2:
				blob.Path = f.String()
			case 3:
				blob.Temporary = f.Int != 0
			case 4:
				r, err := ParseRelayReference(f.Bytes)
				blob.Relayed = &r
				return err
			}
			return nil
		})
		all = append(all, blob)
		return err
	})
	return all, err
}

// payload types of an answer's header.
const (
	typeDiagnostics = 1
	typeResult      = 2
)

// A Diagnostic is the server's word on a request that it did not give to the service, or that the service could not
// even read.
type Diagnostic struct {
	Code    uint64
	Message string
}

// An Answer is what a server's payload holds: a service's message or, instead of one, a diagnostic.
type Answer struct {
	Session    uint64
	Blobs      []Blob
	Message    []byte // points into what was read
	Diagnostic *Diagnostic
}

// AppendAnswer appends an answer's header and its message.
func AppendAnswer(b []byte, a Answer) []byte {
	kind := uint64(typeResult)
	if a.Diagnostic != nil {
		kind = typeDiagnostics
	}
	b = Delimited(b, func(b []byte) []byte {
		b = Uint(b, 11, a.Session)
		b = Uint(b, 12, kind)
		return appendBlobs(b, a.Blobs)
	})
	return Delimited(b, func(b []byte) []byte {
		if a.Diagnostic == nil {
			return append(b, a.Message...)
		}
		b = Uint(b, 11, a.Diagnostic.Code)
		return Text(b, 12, a.Diagnostic.Message)
	})
}

// ParseAnswer reads the payload of an answer or of a body head.
func ParseAnswer(payload []byte) (Answer, error) {
	head, rest, err := CutDelimited(payload)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	var kind uint64
	err = Fields(head, func(f Field) error {
		switch f.Num {
		case 11:
			a.Session = f.Int
		case 12:
			kind = f.Int
		case 13:
			var err error
			a.Blobs, err = blobs(f.Bytes)
			return err
		}
		return nil
	})
	if err != nil {
		return Answer{}, err
	}
	if a.Message, _, err = CutDelimited(rest); err != nil {
		return Answer{}, err
	}
	if kind != typeDiagnostics {
		return a, nil
	}
	a.Diagnostic = new(Diagnostic)
	err = Fields(a.Message, func(f Field) error {
		switch f.Num {
		case 11:
			a.Diagnostic.Code = f.Int
		case 12:
			a.Diagnostic.Message = f.String()
		}
		return nil
	})
	return a, err
}
