package message

import "github.com/hikyaku/hikyaku/tsurugi/internal/wire"

// RelayAPI is the version of the relay's messages.
const RelayAPI = 1

// Storages of the relay, as its references name them.
const (
	RelayUploads  = 0 // what a session has uploaded
	RelayDatabase = 1 // what columns hold; also the provider in result sets
)

// A RelayGet asks the relay for an object that a result set has named.
type RelayGet struct {
	API    uint64
	Tx     uint64 // the number in the handle of the transaction that has the result set
	Object wire.RelayReference
}

// Append appends the request.
func (g RelayGet) Append(b []byte) []byte {
	b = wire.Uint(b, 1, g.API)
	b = wire.Uint(b, 3, g.Tx)
	return wire.Nested(b, 4, g.Object.Append)
}

// ParseRelayGet reads a request.
func ParseRelayGet(b []byte) (g RelayGet, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			g.API = f.Int
		case 3:
			g.Tx = f.Int
		case 4:
			var err error
			g.Object, err = wire.ParseRelayReference(f.Bytes)
			return err
		}
		return nil
	})
	return g, err
}

// A RelayPart is a message of an object on its way: the first is its head, the others are its bytes.
type RelayPart struct {
	Head    bool
	API     uint64 // of the head of an upload
	Session uint64 // likewise
	Size    uint64 // of the object in bytes, if Sized
	Sized   bool
	Chunk   []byte
}

// field numbers of a part; the size of an upload has another one than that of a download.
const (
	partHead     = 1
	partChunk    = 2
	uploadSize   = 3
	downloadSize = 1
)

// AppendUpload appends a part that goes to the relay.
func (p RelayPart) AppendUpload(b []byte) []byte {
	if !p.Head {
		return wire.Always(b, partChunk, p.Chunk)
	}
	return wire.Nested(b, partHead, func(b []byte) []byte {
		b = wire.Uint(b, 1, p.API)
		b = wire.Uint(b, 2, p.Session)
		return wire.Uint(b, uploadSize, p.Size)
	})
}

// AppendDownload appends a part that comes from the relay.
func (p RelayPart) AppendDownload(b []byte) []byte {
	if !p.Head {
		return wire.Always(b, partChunk, p.Chunk)
	}
	return wire.Nested(b, partHead, func(b []byte) []byte { return wire.Uint(b, downloadSize, p.Size) })
}

// ParseUpload reads a part that goes to the relay. Chunk points into b.
func ParseUpload(b []byte) (RelayPart, error) {
	return parsePart(b, func(p *RelayPart, f wire.Field) {
		switch f.Num {
		case 1:
			p.API = f.Int
		case 2:
			p.Session = f.Int
		case uploadSize:
			p.Size, p.Sized = f.Int, true
		}
	})
}

// ParseDownload reads a part that comes from the relay. Chunk points into b.
func ParseDownload(b []byte) (RelayPart, error) {
	return parsePart(b, func(p *RelayPart, f wire.Field) {
		if f.Num == downloadSize {
			p.Size, p.Sized = f.Int, true
		}
	})
}

func parsePart(b []byte, head func(*RelayPart, wire.Field)) (p RelayPart, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case partHead:
			p.Head = true
			return wire.Fields(f.Bytes, func(f wire.Field) error {
				head(&p, f)
				return nil
			})
		case partChunk:
			p.Chunk = f.Bytes
		}
		return nil
	})
	return p, err
}

// AppendRelayed appends the answer to an upload.
func AppendRelayed(b []byte, r wire.RelayReference) []byte { return wire.Nested(b, 1, r.Append) }

// ParseRelayed reads the answer to an upload.
func ParseRelayed(b []byte) (r wire.RelayReference, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		if f.Num != 1 {
			return nil
		}
		var err error
		r, err = wire.ParseRelayReference(f.Bytes)
		return err
	})
	return r, err
}
