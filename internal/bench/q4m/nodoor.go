//go:build no_mysql

package q4m

import (
	"errors"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// newMySQL tells that the door was left out.
func newMySQL(*queue.Store) (harness.Door, error) {
	return nil, errors.New("this program was built without the MySQL door: build it without the tag no_mysql")
}
