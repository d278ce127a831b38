package payload

import (
	"encoding/json"
	"fmt"
)

// Fill adds values to the object that a member of a payload is, where it does not say them itself. The member is made
// where there is none and something is to be added.
func Fill(members map[string]json.RawMessage, member string, add map[string]any) error {
	if len(add) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if text, there := members[member]; there {
		if err := json.Unmarshal(text, &object); err != nil {
			return fmt.Errorf("the message's member %s is no JSON object", member)
		}
	}
	if object == nil {
		object = map[string]json.RawMessage{}
	}
	for name, value := range add {
		if _, there := object[name]; there {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", member, name, err)
		}
		object[name] = text
	}
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("%s: %w", member, err)
	}
	members[member] = text
	return nil
}
