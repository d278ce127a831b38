//go:build !no_mysql

package q4m

import (
	"github.com/hikyaku/hikyaku/internal/api/mysql"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// newMySQL makes the MySQL door over a store, on a port of loopback that it finds.
func newMySQL(s *queue.Store) (harness.Door, error) {
	return mysql.New(mysql.Config{Listen: "127.0.0.1:0", Socket: settings.NoSocket}, mysql.Options{Store: s})
}
