package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/journey/otlp"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// bounds are what this process may take, by the machine and by the configuration.
type bounds struct {
	memory    machine.Available
	collector int64  // the garbage collector's limit; 0: none
	by        string // who says so
	busy      int64  // bytes of requests and answers
	store     queue.Limits
}

// largestMessage bounds a message that the configuration does not bound.
const largestMessage = 64 << 20

// boundsOf finds them for a process that has so much memory, and gives the garbage collector its limit.
func boundsOf(l *config.Limits, memory machine.Available) bounds {
	b := bounds{memory: memory, store: l.Store(), busy: l.BusyBytes}
	b.collector, b.by = machine.Limit(b.memory)
	if b.busy == 0 {
		b.busy = door.DefaultBusy(b.memory.Bytes)
	}
	if b.store.Memory == 0 { // heads grow by doubling, and the collector needs room
		b.store.Memory = b.memory.Bytes / 3
	}
	if b.store.MessageBytes == 0 { // it is read, and what the journal writes of it lies beside it
		b.store.MessageBytes = int(min(largestMessage, b.busy*4/9))
	}
	return b
}

// traceOf remembers where messages have been, as the configuration says; nil: it says that nobody does.
func traceOf(t *config.Trace, memory int64, spans *journey.Spans) *journey.Store {
	if t.Off {
		return nil
	}
	bytes := t.Bytes
	if bytes == 0 && memory > 0 {
		bytes = min(memory/128, journey.DefaultBytes)
	}
	return journey.New(journey.Options{Bytes: bytes, Keep: t.Keep, Spans: spans})
}

// spansOf sends the spans of messages that are traced where the configuration or the environment says; nil: nowhere.
func spansOf(ctx context.Context, t *config.Trace, log *slog.Logger) (*otlp.Exporter, error) {
	if t.Off {
		return nil, nil
	}
	return otlp.New(ctx, otlp.Config{Endpoint: t.OTLP.Endpoint, GRPC: t.OTLP.Protocol == "grpc",
		Headers: t.OTLP.Headers, Version: thisBuild().Version, Env: os.LookupEnv, Report: func(lost uint64, err error) {
			log.Warn("spans are lost: the collector is away or slow", "spans", lost, "error", err)
		}})
}

// tableBytes is what each of so many journals of a process keeps of where its records are.
func tableBytes(memory int64, journals int) int {
	const most, unknown = 64 << 20, 1 << 30
	if memory <= 0 {
		memory = unknown
	}
	return int(min(memory/64, most)) / max(journals, 1)
}

// told is how they are logged.
func (b *bounds) told() []any {
	return []any{"memory", b.memory.Bytes, "memory_by", b.memory.By, "collector_limit", b.collector, "collector_by",
		b.by, "busy_bytes", b.busy, "queue_memory", b.store.Memory, "message_bytes", b.store.MessageBytes}
}
