package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Some clients of the query protocol ask for JSON, with a header Accept. What they get is not the answer of the JSON
// protocol but the tree of the XML in other signs: the action's response around its result, and attributes as lists of
// names and values. The service writes null for members that are not there; here they are left out.

// jsonOfQuery appends an answer of the query protocol in JSON.
func jsonOfQuery(dst []byte, call *Call, response Response) []byte {
	tree := map[string]any{"ResponseMetadata": map[string]string{"RequestId": call.RequestID}}
	if response != nil {
		tree[string(call.Action)+"Result"] = resultOfQuery(response)
	}
	return appendTree(dst, map[string]any{string(call.Action) + "Response": tree})
}

// jsonErrorOfQuery appends an error of the query protocol in JSON.
func jsonErrorOfQuery(dst []byte, call *Call, e *Error, message string) []byte {
	return appendTree(dst, map[string]any{
		"Error":     map[string]string{"Type": e.fault(), "Code": e.Code, "Message": message},
		"RequestId": call.RequestID,
	})
}

// appendTree appends what is made of maps, lists, texts and numbers, which can always be written.
func appendTree(dst []byte, tree any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		panic(err)
	}
	return append(dst, bytes.TrimRight(b.Bytes(), "\n")...)
}

// resultOfQuery is a response as this form of the protocol has it.
func resultOfQuery(response Response) map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(response.appendJSON(nil)))
	decoder.UseNumber()
	result := map[string]any{}
	if err := decoder.Decode(&result); err != nil {
		panic(err) // it is what appendJSON wrote
	}
	listed(result)
	for name, as := range map[string]string{"Messages": "messages", "QueueUrls": "queueUrls"} {
		if value, ok := result[name]; ok {
			delete(result, name)
			result[as] = value
		}
	}
	if messages, ok := result["messages"].([]any); ok {
		for _, m := range messages {
			listed(m.(map[string]any))
		}
	}
	return result
}

// listed makes lists of the attributes and tags of a tree, in the order of their names.
func listed(tree map[string]any) {
	for member, key := range map[string]string{"Attributes": "Name", "MessageAttributes": "Name", "Tags": "Key"} {
		values, ok := tree[member].(map[string]any)
		if !ok {
			continue
		}
		list := []map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			list = append(list, map[string]any{key: name, "Value": values[name]})
		}
		tree[member] = list
	}
}
