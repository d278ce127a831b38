package component

import "github.com/hikyaku/hikyaku/internal/message"

// Overseer is met by transforms that have a say in messages after they have let them through, until they are at the far
// end. Its methods are called from any goroutine and must be quick. m is the message as its source delivered it, and
// must not be changed.
type Overseer interface {
	// Oversee tells, once and before anything runs, which queues the messages are claimed from, as "name" or
	// "namespace/name".
	Oversee(queues []string)
	// Stops is asked just before a message is handed to an AsyncSink below. When it stops the message, that is answered
	// in place of the sink.
	Stops(m *message.Message) (o Outcome, stops bool)
	// Heard is told what a transform or sink below made of a message in the end: Delivered (of a sink), Rejected or
	// Dropped. Where several Overseers are above, all are told, also those that the message has not passed; first is
	// true for one of them: what became of a message happens once.
	Heard(m *message.Message, o *Outcome, first bool)
}
