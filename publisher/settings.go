package publisher

import (
	"math"
	"runtime"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

// PublishSettings say how messages are grouped into requests and how these are sent. The names are those of
// pubsub.PublishSettings where they mean the same. A value of zero or less takes that of Defaults, but where it says
// otherwise. Change them before the first Publish.
type PublishSettings struct {
	// DelayThreshold chooses the policy. 0, the default, is readiness: a message leaves as soon as the line is free,
	// and only while it is busy do messages gather. More is the classic way: a message that is not joined by
	// CountThreshold others, or by as many as make ByteThreshold bytes, leaves after this time.
	DelayThreshold time.Duration
	// CountThreshold is the most messages a request has. The service takes at most pubsub.MaxPublishRequestCount.
	CountThreshold int
	// ByteThreshold is how many bytes of messages make a request full. The message that reaches it is the last of its
	// request; the service takes at most pubsub.MaxPublishRequestBytes.
	ByteThreshold int
	// NumGoroutines is how many requests are in flight at most. Each has a goroutine as long as it takes.
	NumGoroutines int
	// Timeout is how long a request may take, with all its retries. 0: a minute. Negative: as long as it likes.
	Timeout time.Duration
	// FlowControlSettings bound what was published and not yet answered. Unlike the Google publisher this one keeps to
	// them by default: Publish blocks while too much is outstanding.
	FlowControlSettings pubsub.FlowControlSettings
	// EnableCompression lets requests be compressed with gzip if that makes them smaller, which now and then one is
	// probed for.
	EnableCompression bool
	// CompressionBytesThreshold is the size above which a request is worth compressing, in bytes.
	CompressionBytesThreshold int
	// HedgingSettings let a request that is slow be sent again beside itself; the first answer counts. The service may
	// then have messages twice. nil, the default: no request is. It is not for publishers with EnableMessageOrdering:
	// their calls of Publish fail with ErrHedgedOrder.
	HedgingSettings *pubsub.HedgingSettings
}

// SettingsFrom returns settings that do what Google's do, as far as a program has changed these: what has the value of
// pubsub.DefaultPublishSettings, or none, is that of Defaults, so that messages do not wait for company unless somebody
// asked for it. Where none has a meaning of its own, it keeps that: no Timeout is none, and of FlowControlSettings that
// a program has set, a bound that is missing is that of Google's defaults.
func SettingsFrom(g pubsub.PublishSettings) PublishSettings {
	s, was := Defaults(), pubsub.DefaultPublishSettings
	if g.DelayThreshold != was.DelayThreshold {
		s.DelayThreshold = g.DelayThreshold
	}
	if g.CountThreshold != was.CountThreshold {
		s.CountThreshold = positive(g.CountThreshold, s.CountThreshold)
	}
	if g.ByteThreshold != was.ByteThreshold {
		s.ByteThreshold = positive(g.ByteThreshold, s.ByteThreshold)
	}
	s.NumGoroutines = positive(g.NumGoroutines, s.NumGoroutines)
	s.Timeout = g.Timeout
	if g.Timeout == 0 {
		s.Timeout = -1
	}
	if f := g.FlowControlSettings; f != was.FlowControlSettings && f != (pubsub.FlowControlSettings{}) {
		f.MaxOutstandingMessages = positive(f.MaxOutstandingMessages, was.FlowControlSettings.MaxOutstandingMessages)
		f.MaxOutstandingBytes = positive(f.MaxOutstandingBytes,
			positive(was.FlowControlSettings.MaxOutstandingBytes, math.MaxInt))
		s.FlowControlSettings = f
	}
	s.EnableCompression, s.CompressionBytesThreshold = g.EnableCompression, g.CompressionBytesThreshold
	s.HedgingSettings = g.HedgingSettings
	return s
}

// Defaults returns the settings with which a Publisher begins: readiness, requests of up to 1,000 messages or about 1
// MB, and at most 10,000 messages or 64 MiB outstanding.
func Defaults() PublishSettings {
	return PublishSettings{
		CountThreshold: pubsub.MaxPublishRequestCount,
		ByteThreshold:  1e6,
		NumGoroutines:  50 * runtime.GOMAXPROCS(0),
		Timeout:        time.Minute,
		FlowControlSettings: pubsub.FlowControlSettings{
			MaxOutstandingMessages: 10_000,
			MaxOutstandingBytes:    64 << 20,
			LimitExceededBehavior:  pubsub.FlowControlBlock,
		},
		CompressionBytesThreshold: 240,
	}
}

// Thresholds returns the settings of the classic policy, with which the same code behaves as the Google publisher does:
// a request leaves when it has count messages or that many bytes, or when its oldest message has waited for delay. All
// else is as in Defaults. Google's own values are 100, 1e6 and 10 ms.
func Thresholds(count, bytes int, delay time.Duration) PublishSettings {
	s := Defaults()
	s.CountThreshold, s.ByteThreshold, s.DelayThreshold = count, bytes, delay
	return s
}

// complete fills in what was left out.
func (s PublishSettings) complete() PublishSettings {
	d := Defaults()
	s.DelayThreshold = max(s.DelayThreshold, 0)
	s.CountThreshold = min(positive(s.CountThreshold, d.CountThreshold), pubsub.MaxPublishRequestCount)
	s.ByteThreshold = positive(s.ByteThreshold, d.ByteThreshold)
	s.NumGoroutines = positive(s.NumGoroutines, d.NumGoroutines)
	s.CompressionBytesThreshold = max(s.CompressionBytesThreshold, 0)
	if s.Timeout == 0 {
		s.Timeout = d.Timeout
	}
	f := &s.FlowControlSettings
	f.MaxOutstandingMessages = positive(f.MaxOutstandingMessages, d.FlowControlSettings.MaxOutstandingMessages)
	f.MaxOutstandingBytes = positive(f.MaxOutstandingBytes, d.FlowControlSettings.MaxOutstandingBytes)
	return s
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
