package sink

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// errProfile says that what was read is not what runtime/pprof writes.
var errProfile = errors.New("no profile of runtime/pprof")

// maxProfile bounds what a profile may be unpacked.
const maxProfile = 256 << 20

// The numbers of the fields of a profile, of github.com/google/pprof's profile.proto.
const (
	profileSample   = 2
	profileLocation = 4
	profileFunction = 5
	profileStrings  = 6
)

// readProfile hands over the samples of a profile of the processors: the functions that were being called, innermost
// first, and for how long.
func readProfile(text []byte, each func(stack []string, t time.Duration)) error {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: %w", errProfile, err)
	}
	b, err := io.ReadAll(io.LimitReader(z, maxProfile))
	if err != nil {
		return fmt.Errorf("%w: %w", errProfile, err)
	}
	var names []string
	functions, locations := map[uint64]uint64{}, map[uint64][]uint64{} // to names; to functions, innermost first
	var samples [][]byte
	err = protoFields(b, func(n protowire.Number, _ uint64, part []byte) error {
		switch n {
		case profileSample:
			samples = append(samples, part)
		case profileStrings:
			names = append(names, string(part))
		case profileFunction:
			var id, name uint64
			err := protoFields(part, func(n protowire.Number, v uint64, _ []byte) error {
				switch n {
				case 1:
					id = v
				case 2:
					name = v
				}
				return nil
			})
			functions[id] = name
			return err
		case profileLocation:
			return readLocation(part, locations)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, sample := range samples {
		var stack []string
		var values []uint64
		err := protoFields(sample, func(n protowire.Number, v uint64, part []byte) error {
			switch n {
			case 1:
				return packed(v, part, func(id uint64) {
					for _, f := range locations[id] {
						if name := functions[f]; name < uint64(len(names)) {
							stack = append(stack, names[name])
						}
					}
				})
			case 2:
				return packed(v, part, func(x uint64) { values = append(values, x) })
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(values) > 1 { // how many samples, and nanoseconds
			each(stack, time.Duration(values[1]))
		}
	}
	return nil
}

// readLocation reads which functions stand at a place in the program: several where calls were inlined.
func readLocation(b []byte, locations map[uint64][]uint64) error {
	var id uint64
	var functions []uint64
	err := protoFields(b, func(n protowire.Number, v uint64, part []byte) error {
		switch n {
		case 1:
			id = v
		case 4:
			return protoFields(part, func(n protowire.Number, v uint64, _ []byte) error {
				if n == 1 {
					functions = append(functions, v)
				}
				return nil
			})
		}
		return nil
	})
	locations[id] = functions
	return err
}

// protoFields hands over the fields of a message: numbers, or what has a length.
func protoFields(b []byte, each func(n protowire.Number, v uint64, part []byte) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return fmt.Errorf("%w: %w", errProfile, protowire.ParseError(size))
		}
		b = b[size:]
		var v uint64
		var part []byte
		switch kind {
		case protowire.VarintType:
			v, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			part, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return fmt.Errorf("%w: %w", errProfile, protowire.ParseError(size))
		}
		b = b[size:]
		if err := each(n, v, part); err != nil {
			return err
		}
	}
	return nil
}

// packed hands over numbers that may be packed into one field.
func packed(v uint64, part []byte, each func(uint64)) error {
	if part == nil {
		each(v)
		return nil
	}
	for len(part) > 0 {
		x, size := protowire.ConsumeVarint(part)
		if size < 0 {
			return fmt.Errorf("%w: %w", errProfile, protowire.ParseError(size))
		}
		each(x)
		part = part[size:]
	}
	return nil
}
