package docs

import "fmt"

// pageError is a mistake at a place of a page.
type pageError struct {
	path string
	line int
	what string
}

func (e *pageError) Error() string { return fmt.Sprintf("%s:%d: %s", e.path, e.line, e.what) }
