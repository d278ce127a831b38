package sqs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
)

// The limits of SQS.
const (
	maxMessageBytes   = 1 << 20 // a message with its attributes, and a batch
	minMessageBytes   = 1 << 10 // the least that a queue may allow
	maxDelaySeconds   = 900
	maxVisibility     = 43_200 // seconds
	maxWaitSeconds    = 20
	minRetention      = 60
	maxRetention      = 1_209_600
	usualRetention    = 345_600
	maxReceived       = 10
	maxAttributes     = 10
	maxAttributeName  = 256
	maxGroupID        = 128
	maxInFlight       = 120_000
	maxAttemptSeconds = 300
)

// inRange checks a number of a parameter that may be left out. reason is the service's where it has its own words.
func inRange(parameter string, o wire.Opt[int], least, most, otherwise int, reason string) (int, error) {
	if n := o.Or(otherwise); n >= least && n <= most {
		return n, nil
	}
	if reason == "" {
		reason = fmt.Sprintf("Must be between %d and %d, if provided.", least, most)
	}
	return 0, wire.InvalidParameterValue(parameter, strconv.Itoa(o.Value), reason)
}

// checkAttributes holds message attributes to the rules of SQS.
func checkAttributes(as []wire.Attribute) error {
	if len(as) > maxAttributes {
		return wire.InvalidParameter(fmt.Sprintf("Number of message attributes [%d] exceeds the allowed maximum [%d].",
			len(as), maxAttributes))
	}
	for i := range as {
		if err := checkAttribute(&as[i]); err != nil {
			return err
		}
		for j := range i {
			if as[j].Name == as[i].Name {
				return wire.InvalidParameter(fmt.Sprintf("Message (user) attribute name '%s' already exists.",
					as[i].Name))
			}
		}
	}
	return nil
}

func checkAttribute(a *wire.Attribute) error {
	if err := checkAttributeName(a.Name); err != nil {
		return err
	}
	if a.DataType == "" {
		return wire.InvalidParameter(fmt.Sprintf("The message attribute '%s' must contain message attribute type.",
			a.Name))
	}
	kind := sqsattr.Base(a.DataType)
	if kind != sqsattr.String && kind != sqsattr.Number && kind != sqsattr.Binary {
		return wire.InvalidParameter(fmt.Sprintf("The message attribute '%s' has an invalid message attribute type, "+
			"the set of supported type prefixes is Binary, Number, and String.", a.Name))
	}
	if len(a.DataType) > maxAttributeName ||
		strings.ContainsFunc(a.DataType, func(r rune) bool { return r < ' ' || r == '=' || r == 0x7F }) {
		return wire.InvalidParameter(fmt.Sprintf("The message attribute '%s' has a message attribute type that is "+
			"too long or has characters it cannot have.", a.Name))
	}
	switch {
	case a.Lists:
		return wire.UnsupportedOperation("Message attribute list values in SendMessage operation are not supported.")
	case a.HasText && a.Binary != nil:
		return wire.InvalidParameter(fmt.Sprintf("Message attribute '%s' has multiple values.", a.Name))
	case kind == sqsattr.Binary && len(a.Binary) == 0, kind != sqsattr.Binary && a.Text == "":
		if a.HasText != (kind != sqsattr.Binary) && (a.HasText || a.Binary != nil) {
			return wire.InvalidParameter(fmt.Sprintf("The type of message (user) attribute '%s' does not correspond "+
				"to its value.", a.Name))
		}
		return wire.InvalidParameter(fmt.Sprintf("Message (user) attribute '%s' must contain a non-empty value of "+
			"type '%s'.", a.Name, kind))
	case kind != sqsattr.Binary && !wire.ValidText(a.Text):
		return wire.InvalidParameter(fmt.Sprintf("Invalid characters found in message attribute '%s'.", a.Name))
	case kind == sqsattr.Number && !validNumber(a.Text):
		return wire.InvalidParameter(fmt.Sprintf("Can't cast the value of message (user) attribute '%s' to a number.",
			a.Name))
	}
	return nil
}

// checkAttributeName holds the name of a message attribute to the rules of SQS.
func checkAttributeName(name string) error {
	if name == "" {
		return wire.InvalidParameter("Message (user) attribute name must not be empty.")
	}
	if len(name) > maxAttributeName {
		return wire.InvalidParameter(fmt.Sprintf("Length of message attribute name must be less than or equal to %d "+
			"bytes.", maxAttributeName))
	}
	for _, r := range name { // letters and digits of any script, as the service has it
		if r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return wire.InvalidParameter("Invalid characters found in the message (user) attribute name: only " +
				"alphanumeric characters, underscores, hyphens and periods are allowed.")
		}
	}
	if name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return wire.InvalidParameter("A message (user) attribute name cannot start or end with a period, nor have " +
			"two of them in succession.")
	}
	for _, reserved := range []string{"aws.", "amazon."} {
		if len(name) >= len(reserved) && strings.EqualFold(name[:len(reserved)], reserved) {
			return wire.InvalidParameter("Message (user) attribute name cannot start with AWS. or Amazon.: these " +
				"prefixes are reserved.")
		}
	}
	return nil
}

// checkSystemAttributes lets the one system attribute pass that can be sent, and returns it.
func checkSystemAttributes(as []wire.Attribute) (trace string, err error) {
	for i := range as {
		a := &as[i]
		switch {
		case a.Name != "AWSTraceHeader":
			return "", wire.InvalidParameter(fmt.Sprintf("Message system attribute name '%.100s' is invalid.", a.Name))
		case i > 0:
			return "", wire.InvalidParameter("Message system attribute name 'AWSTraceHeader' already exists.")
		case a.DataType != sqsattr.String:
			return "", wire.InvalidParameter("The message system attribute 'AWSTraceHeader' has to be of type String.")
		case a.Lists:
			return "", wire.UnsupportedOperation("Message attribute list values in SendMessage operation are not " +
				"supported.")
		case a.HasText && a.Binary != nil:
			return "", wire.InvalidParameter("Message system attribute 'AWSTraceHeader' has multiple values.")
		case a.Text == "" || !wire.ValidText(a.Text):
			return "", wire.InvalidParameter("Message system attribute 'AWSTraceHeader' must contain a non-empty " +
				"value of type 'String'.")
		}
		trace = a.Text
	}
	return trace, nil
}

// validGroup tells whether a text can be a message group id, a deduplication id or a receive request attempt id: 1 to
// 128 letters, digits and punctuation marks.
func validGroup(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxGroupID
}

// checkGroup is the error of validGroup.
func checkGroup(parameter, s string) error {
	if validGroup(s) {
		return nil
	}
	return wire.InvalidParameterValue(parameter, shortened(s), parameter+" can only include alphanumeric and "+
		"punctuation characters. 1 to 128 in length.")
}

// shortened is the beginning of what a client sent, for an error.
func shortened(s string) string { return message.Shorten(s, 200) }
