package deployment

import (
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The longest names, in characters.
const (
	longestName  = 64 // of a function
	longestAlias = 128
	longestLayer = 140
)

// isName tells whether a text is made of letters, digits, hyphens and underscores, at most so many.
func isName(s string, most int) bool {
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			continue
		}
		return false
	}
	return s != "" && len(s) <= most
}

// ParseName reads how clients name a function: by its name, its ARN or a part of that, each with or without a
// qualifier.
func ParseName(text string) (name, qualifier string, err error) {
	parts := strings.Split(text, ":")
	switch {
	case len(parts) >= 7 && parts[0] == "arn" && parts[2] == "lambda" && parts[5] == "function":
		parts = parts[6:]
	case len(parts) >= 3 && parts[1] == "function": // account:function:name
		parts = parts[2:]
	}
	if len(parts) > 2 || !isName(parts[0], longestName) {
		return "", "", invalid("%q is no name of a function: up to 64 letters, digits, - and _", shortened(text))
	}
	if len(parts) == 2 {
		qualifier = parts[1]
		if qualifier != function.Latest && !isName(qualifier, longestAlias) {
			return "", "", invalid("%q is no version or alias", shortened(qualifier))
		}
	}
	return parts[0], qualifier, nil
}

// target is where messages can be sent.
type target struct {
	queue    queue.Name // or a topic
	function string     // with its qualifier
}

// parseTarget reads an ARN of a queue, a topic or a function, or the name of a queue.
func parseTarget(text string) (target, error) {
	if strings.HasPrefix(text, "arn:") {
		parts := strings.SplitN(text, ":", 6)
		if len(parts) == 6 {
			switch parts[2] {
			case "sqs", "sns":
				n := queue.Name{Namespace: parts[4], Name: parts[5]}
				if err := n.Check(); err != nil {
					return target{}, invalid("%s: %v", text, err)
				}
				return target{queue: n}, nil
			case "lambda":
				if _, _, err := ParseName(text); err != nil {
					return target{}, err
				}
				return target{function: text}, nil
			}
		}
		return target{}, invalid("%q is no ARN of a queue, a topic or a function", shortened(text))
	}
	n, err := queue.ParseName(text)
	if err != nil {
		return target{}, invalid("%q is no queue: %v", shortened(text), err)
	}
	return target{queue: n}, nil
}

func number(n int) string { return strconv.Itoa(n) }

// shortened cuts what a client sent for a message.
func shortened(s string) string { return message.Shorten(s, 100) }
