package http

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/journey"
)

// Journey is where a message has been.
type Journey struct {
	ID   string       `json:"id"`
	Hops []JourneyHop `json:"hops"` // by time
	// LeftOut are hops that are not remembered, since there were too many: they were behind the eighth.
	LeftOut int `json:"left_out,omitempty"`
	// Late says that the journey is remembered from the hop on at which it was found to be worth it. Of what was before
	// there are only the times of the main hops.
	Late    bool    `json:"late,omitempty"`
	Sampled Sampled `json:"sampled"`
}

// JourneyHop is one thing that happened to a message.
type JourneyHop struct {
	Hop     string    `json:"hop"` // "accepted", "claimed", "answered" and so on
	Time    time.Time `json:"time"`
	Queue   string    `json:"queue,omitempty"` // or topic, as namespace/name
	Step    string    `json:"step,omitempty"`  // of a pipeline
	By      string    `json:"by,omitempty"`    // a door, the holder of a claim, a step
	Attempt int       `json:"attempt,omitempty"`
	Lease   Duration  `json:"lease,omitempty"`   // of "claimed" and "extended"
	Delay   Duration  `json:"delay,omitempty"`   // of "back"
	Took    Duration  `json:"took,omitempty"`    // of "answered": the request
	Text    string    `json:"text,omitempty"`    // an answer, or a reason
	Message string    `json:"message,omitempty"` // of "made" and "made-from": the id of the other message
}

// Sampled tells which journeys are remembered.
type Sampled struct {
	Every int      `json:"every"` // of so many new messages one is remembered, and all that fail or are slow
	Keep  Duration `json:"keep"`  // how long after their latest hop, at most
}

// Slowest are messages that took long.
type Slowest struct {
	Slowest []SlowMessage `json:"slowest"` // the longest first
	Sampled Sampled       `json:"sampled"`
}

// SlowMessage is one that took long.
type SlowMessage struct {
	ID    string   `json:"id"`
	Took  Duration `json:"took"`
	Ended bool     `json:"ended"` // else it is under way, and Took goes on
}

// shownHop is a step of a journey as clients see it.
func shownHop(s *journey.Step) JourneyHop {
	h := JourneyHop{Hop: s.Kind.String(), Time: s.Time.UTC(), By: s.By, Attempt: s.Attempt}
	switch {
	case s.Place == journey.Place{}:
	case s.Place.IsStep():
		h.Step = s.Place.Name
	default:
		h.Queue = s.Place.Namespace + "/" + s.Place.Name
	}
	switch s.Kind {
	case journey.Made, journey.MadeFrom:
		h.Message = s.Text
	case journey.Back:
		h.Delay = Duration(s.For)
	case journey.Claimed, journey.Extended:
		h.Lease = Duration(s.For)
	case journey.Answered:
		h.Took, h.Text = Duration(s.For), s.Text
	default:
		h.Text = s.Text
	}
	return h
}
