package macro

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrScript is wrapped by errors about bytes that are no script.
var ErrScript = errors.New("macro: not a script")

// stepBytes is what a step takes: its frames, and its state.
const stepBytes = 4 + Inputs

// AppendBinary appends the script in the form that UnmarshalBinary reads: for each player the number of steps, and the
// steps. The error is always nil.
func (s *Script) AppendBinary(b []byte) ([]byte, error) {
	for _, track := range s.Tracks {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(track)))
		for i := range track {
			b = binary.LittleEndian.AppendUint32(b, track[i].Frames)
			for _, v := range track[i].State {
				b = append(b, byte(v))
			}
		}
	}
	return b, nil
}

// UnmarshalBinary reads what AppendBinary wrote, and nothing else. It keeps nothing of b.
func (s *Script) UnmarshalBinary(b []byte) error {
	var read Script
	for player := range read.Tracks {
		if len(b) < 4 {
			return fmt.Errorf("%w: it ends before the steps of player %d", ErrScript, player+1)
		}
		n := int64(binary.LittleEndian.Uint32(b))
		b = b[4:]
		if n > MaxSteps || n*stepBytes > int64(len(b)) {
			return fmt.Errorf("%w: it ends in the steps of player %d", ErrScript, player+1)
		}
		track := make([]Step, n)
		for i := range track {
			t := &track[i]
			if t.Frames = binary.LittleEndian.Uint32(b); t.Frames == 0 {
				return fmt.Errorf("%w: step %d of player %d has no frames", ErrScript, i, player+1)
			}
			for j := range t.State {
				t.State[j] = int8(b[4+j])
			}
			b = b[stepBytes:]
		}
		read.Tracks[player] = track
	}
	if len(b) > 0 {
		return fmt.Errorf("%w: %d bytes stand behind it", ErrScript, len(b))
	}
	*s = read
	return nil
}
