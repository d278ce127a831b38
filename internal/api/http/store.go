package http

import (
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Store is what the door uses: a store, and what metrics say of its journal. A *queue.Store is one.
type Store interface {
	queue.Service
	JournalStats() journal.Stats
}
