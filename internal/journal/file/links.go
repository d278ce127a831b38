package file

import (
	"fmt"
	"path/filepath"
	"strings"
)

// distinct are the files behind the names of a folder that belong to a journal, but for its spares. It fails when two
// names lead to one file, by links of either kind: what is written to one would be written into the other.
func distinct(fsys FS, dir string, names []string) (map[ID]string, error) {
	files := make(map[ID]string, len(names))
	for _, name := range names {
		_, isSegment := parseSegmentName(name)
		_, isCold := parseColdName(name)
		_, isCheckpoint := parseCheckpointName(name)
		if !isSegment && !isCold && !isCheckpoint && !strings.HasPrefix(name, manifestPrefix) && name != noteName &&
			name != lockName {
			continue
		}
		path := filepath.Join(dir, name)
		id, err := fsys.Identify(path)
		if missing(err) {
			continue // a journal in use has taken it away; where it is needed it is missed later
		}
		if err != nil {
			return nil, err
		}
		if other, there := files[id]; there {
			return nil, damageAt(path, 0, fmt.Sprintf("it is one file with %s, by a link: what is written to one would "+
				"stand in both; nothing was changed", other))
		}
		files[id] = name
	}
	return files, nil
}
