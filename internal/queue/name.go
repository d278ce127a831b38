package queue

import (
	"cmp"
	"fmt"
	"strings"
)

// DefaultNamespace is the namespace of names that do not say one.
const DefaultNamespace = "default"

// Name is the full name of a queue or topic. Namespaces appear on demand: a MySQL database, a Pub/Sub project, an SQS
// account and the first path segment of the HTTP door are namespaces.
type Name struct {
	Namespace string
	Name      string
}

// ParseName reads "name" or "namespace/name".
func ParseName(s string) (Name, error) {
	ns, name, ok := strings.Cut(s, "/")
	if !ok {
		ns, name = DefaultNamespace, s
	}
	n := Name{ns, name}
	return n, n.Check()
}

// MaxNameBytes bounds each part of a Name.
const MaxNameBytes = 255

// Check says what is wrong with a name: each part is 1 to 255 bytes of letters, digits and - _ . ~ + % $
func (n Name) Check() error {
	for _, part := range []string{n.Namespace, n.Name} {
		switch {
		case part == "":
			return fmt.Errorf("%w: %q: a name has 1 to %d characters, or namespace/name", ErrBadName, n.String(),
				MaxNameBytes)
		case len(part) > MaxNameBytes:
			return fmt.Errorf("%w: %.40q… is longer than %d bytes", ErrBadName, part, MaxNameBytes)
		case part == "." || part == "..":
			return fmt.Errorf("%w: %q cannot be a name", ErrBadName, part)
		}
		for _, r := range part {
			if !nameRune(r) {
				return fmt.Errorf("%w: %q: %q is not allowed (letters, digits and - _ . ~ + %% $ are)", ErrBadName,
					n.String(), r)
			}
		}
	}
	return nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.~+%$", r) ||
		r >= 0x80 && r != 0xFFFD
}

// String is "namespace/name".
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// Short leaves the default namespace out.
func (n Name) Short() string {
	if n.Namespace == DefaultNamespace {
		return n.Name
	}
	return n.String()
}

func compareNames(a, b Name) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
