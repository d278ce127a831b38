package pipeline

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// meant makes a hint of the name that was probably meant; "" when none is near.
func meant(name string, names []string) string {
	if n := nearest.Name(name, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}
