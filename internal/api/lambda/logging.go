package lambda

import "encoding/json"

// loggingConfig is what a client says of a function's log. It is kept for who asks.
type loggingConfig struct {
	LogFormat           string `json:",omitempty"`
	ApplicationLogLevel string `json:",omitempty"` // with the format JSON
	SystemLogLevel      string `json:",omitempty"` // the same
	LogGroup            string `json:",omitempty"`
}

// logged is what has been said of a log by now: what is left out this time stays as it was, but for levels, which a log
// of text has not.
func logged(before, said json.RawMessage) json.RawMessage {
	var l loggingConfig
	for _, text := range []json.RawMessage{before, said} {
		if len(text) > 0 && json.Unmarshal(text, &l) != nil {
			return said // the model has refused what does not fit
		}
	}
	if l.LogFormat != "JSON" {
		l.ApplicationLogLevel, l.SystemLogLevel = "", ""
	}
	text, err := json.Marshal(l)
	if err != nil {
		return said
	}
	return text
}

// logging completes what a client said of the log of a function as the service does.
func logging(function string, said json.RawMessage) loggingConfig {
	var l loggingConfig
	if len(said) > 0 && json.Unmarshal(said, &l) != nil {
		l = loggingConfig{}
	}
	if l.LogFormat == "" {
		l.LogFormat = "Text"
	}
	if l.LogGroup == "" {
		l.LogGroup = "/aws/lambda/" + function
	}
	if l.LogFormat != "JSON" {
		l.ApplicationLogLevel, l.SystemLogLevel = "", ""
		return l
	}
	if l.ApplicationLogLevel == "" {
		l.ApplicationLogLevel = "INFO"
	}
	if l.SystemLogLevel == "" {
		l.SystemLogLevel = "INFO"
	}
	return l
}
