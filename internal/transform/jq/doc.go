// Package jq is the transform that reshapes messages with jq programs:
//
//	transforms:
//	  shape:
//	    type: jq
//	    inputs: [fields]
//	    program: '{level: (.value1|tonumber), at: $time}'
//	    attributes: { level: .level }
//
// A program sees the body, which must be JSON (put a decode before it if it is not), as ".", and the message as
// variables:
//
//	$id          the message's id
//	$key         its key, null when it has none
//	$attributes  its attributes, an object; bytes are base64, times RFC 3339
//	$time        when it was published, RFC 3339
//	$expires     when it expires, RFC 3339; null: not set
//	$death       of a dead letter {queue, step, reason, attempts, time}; else null
//	$body        the body as it came; in programs of attributes "." is the new body
//
// Each output is a message with that output, as compact JSON, for its body; no output drops the message. Integers are
// exact, however large. An error in a program rejects the message whole, with jq's error as the reason.
//
// Programs that only put fields together take a short cut (see internal/program), with the same messages and errors.
//
// Programs reach nothing outside the message: no environment, no files or modules, no further input. Their time, the
// number of outputs and the bytes of these are bounded; a program's memory is not, so programs are for those who may
// change the configuration.
package jq
