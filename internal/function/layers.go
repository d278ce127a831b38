package function

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/function/code"
)

// unpackLayers unpacks the layers that are archives into folders beside dir, the code's, which has so many bytes, and
// returns all as folders. After an error these are the ones that were unpacked, and others as they were.
func (p *Pool) unpackLayers(layers []string, used int64, dir string) ([]string, error) {
	all := slices.Clone(layers)
	limits := p.config.CodeLimits
	most := cmp.Or(max(limits.Bytes, 0), code.UsualBytes)
	for i, l := range all {
		if info, err := os.Stat(l); err != nil || info.IsDir() {
			continue // the definition was checked; one that vanished is found to be missing by whoever looks for it
		}
		number := strconv.Itoa(i + 1)
		if limits.Bytes = most - used; limits.Bytes <= 0 {
			return all, fmt.Errorf("%w: code and layers together have more than %d bytes when they are unpacked",
				code.ErrTooLarge, most)
		}
		placed, err := code.Place(dir+"-layer-"+number, code.Source{File: l, Name: "the archive of layer " + number},
			limits)
		if errors.Is(err, code.ErrTooLarge) {
			err = fmt.Errorf("code and layers together: %w", err)
		}
		if err != nil {
			return all, err
		}
		all[i] = placed.Dir
		used += placed.Bytes
	}
	return all, nil
}
