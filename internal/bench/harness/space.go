package harness

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// roomFor refuses to begin what would fill the disk of dir.
func roomFor(dir string, es []Experiment) error {
	need, most := int64(0), ""
	for _, e := range es {
		if e.Disk > need {
			need, most = e.Disk, e.Work
		}
	}
	need += rawBytes
	free, known := machine.FreeBytes(dir)
	if !known || free >= need {
		return nil
	}
	return fmt.Errorf("%s has %s free, but %s needs up to %s: choose another folder, or other works",
		dir, measure.Bytes(free), most, measure.Bytes(need))
}
