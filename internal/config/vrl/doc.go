// Package vrl reads programs in VRL, the language of Vector's remap transform, and says what does the same here: a
// decode, a jq program, or both. It runs nothing: the answer is for the person who brings a file that was written for
// another log shipper.
//
//	t := vrl.Translate(`. = parse_json!(.message)
//	.level = downcase(.level)`)
//	// t.Decode.Codec is "json", t.Program is ".level = (.level | ascii_downcase)"
//
// It knows the programs that people write most: a line is parsed, fields are converted, set, renamed and removed. What
// it does not know stands in Translation.Unknown, and the rest is translated all the same.
package vrl
