// Package function is a sink that gives messages to a function, in the shape of the events that a provider's sources
// make.
//
//	sinks:
//	  resize:
//	    type: function
//	    inputs: [pictures]
//	    function: resize             # or resize:live, a version or an alias
//	    event: sqs                   # the default; or pubsub, dynamodb, raw
//	    partial_failures: true       # the function answers {"batchItemFailures": [{"itemIdentifier": ID}]}
//	    answers: resized             # a queue or topic for what it answers
//	    batch: { max_events: 10 }
//	    request: { concurrency: 20, retry_attempts: 5 }
//
// How many messages an event has, how many events are in the function at once, how often one is tried again and where
// dead letters go are the pipeline's settings. A batch whose function fails is tried again as a whole, or by halves
// (bisect) until the message that it fails for stands alone. Shapes pubsub and raw have one message an event.
//
// An answer is put into its queue before the messages count as delivered; it is put again when they are delivered
// again.
package function
