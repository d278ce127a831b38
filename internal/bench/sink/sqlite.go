package sink

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// sqliteConnector opens a file of SQLite's by the text that its driver wants.
type sqliteConnector struct{ name string }

// Connect implements driver.Connector.
func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) {
	return c.Driver().Open(c.name)
}

// Driver implements driver.Connector.
func (c sqliteConnector) Driver() driver.Driver { return &sqlite.Driver{} }
