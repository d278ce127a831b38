package message

import "github.com/hikyaku/hikyaku/tsurugi/internal/wire"

// A CoreRequest is for the service that keeps sessions: one of its parts is set.
type CoreRequest struct {
	Version  wire.Version
	Renew    bool   // the session's life
	Millis   uint64 // how long it should live; 0 leaves that to the server
	Shutdown bool   // end the session when what runs has ended
	Force    bool   // end it at once
}

// Append appends the request.
func (r CoreRequest) Append(b []byte) []byte {
	b = wire.Uint(b, 1, r.Version.Major)
	b = wire.Uint(b, 2, r.Version.Minor)
	if r.Shutdown {
		return wire.Nested(b, 12, func(b []byte) []byte {
			if r.Force {
				return wire.Uint(b, 1, 2)
			}
			return wire.Uint(b, 1, 1)
		})
	}
	return wire.Nested(b, 11, func(b []byte) []byte { return wire.Uint(b, 1, r.Millis) })
}

// ParseCoreRequest reads a request.
func ParseCoreRequest(b []byte) (r CoreRequest, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			r.Version.Major = f.Int
		case 2:
			r.Version.Minor = f.Int
		case 11:
			r.Renew = true
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				if f.Num == 1 {
					r.Millis = f.Int
				}
				return nil
			})
		case 12:
			r.Shutdown, r.Force = true, true
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				if f.Num == 1 {
					r.Force = f.Int != 1
				}
				return nil
			})
		}
		return nil
	})
	return r, err
}

// AppendCoreDone appends the answer to a renewal.
func AppendCoreDone(b []byte) []byte { return wire.Always(b, fieldSuccess, "") }
