// Package journey remembers where messages have been, for a while and in memory: when each was accepted, handed out,
// sent, answered, settled, and by whom, so that somebody can ask why one of them took so long.
//
// It keeps no bodies and no attributes, and nothing survives a restart. A Store is bounded in bytes and in time: the
// journeys that were remembered for no reason but that few messages came go first, those that failed or were slow last.
// Those who record call it behind their work and without their locks. A nil *Store remembers nothing.
//
//	s := journey.New(journey.Options{Bytes: 16 << 20, Keep: time.Hour})
//	s.Begin(&journey.Note{ID: id, Kind: journey.Accepted, Time: now, Place: journey.Place{"default", "news"}})
//	s.End(&journey.Note{ID: id, Kind: journey.Done, Time: later, Place: journey.Place{"default", "news"}, Hops: &hops})
//	j, ok := s.Find(id)
package journey
