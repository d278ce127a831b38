package lambda

import (
	"net/http"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// limits are how many invocations may run at once, and how many of them no function has reserved.
func (c *call) limits() (most, left int) {
	most = c.d.config.Concurrency
	if most == 0 {
		most = 1000
	}
	left = most
	for _, f := range c.d.functions.List() {
		if f.Reserved != nil {
			left -= *f.Reserved
		}
	}
	return most, max(left, 0)
}

// codeSize is how many bytes the archives of functions have, of their versions and of layers: each counts, also when
// it is the same as another.
func (c *call) codeSize(all []*deployment.Function) (size int64) {
	for _, f := range all {
		size += f.Latest.Size
		for _, v := range f.Published() {
			size += v.Size
		}
	}
	for _, l := range c.d.functions.Layers() {
		for _, v := range l.Versions() {
			size += v.Size
		}
	}
	return size
}

func (c *call) accountSettings() error {
	all := c.d.functions.List()
	size := c.codeSize(all)
	most, left := c.limits()
	return c.answer(http.StatusOK, map[string]any{
		"AccountLimit": map[string]int{"TotalCodeSize": 80530636800, "CodeSizeUnzipped": 262144000,
			"CodeSizeZipped": maxZipped, "ConcurrentExecutions": most, "UnreservedConcurrentExecutions": left},
		"AccountUsage": map[string]int64{"TotalCodeSize": size, "FunctionCount": int64(len(all))},
	})
}
