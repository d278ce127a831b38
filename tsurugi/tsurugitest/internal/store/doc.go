// Package store keeps the tables of the server for tests, in memory, and runs statements in transactions: a transaction
// sees its own changes, remembers which version of each row it saw, and is refused when it commits after one that
// changed them, as TsurugiDB's OCC does. Long transactions announce the tables that they write; a short one that writes
// there is refused. Definitions change at once, whatever becomes of the transaction.
package store
