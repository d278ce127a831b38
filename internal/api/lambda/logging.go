package lambda

import "encoding/json"

// loggingConfig is what a client says of a function's log. It is kept for who asks.
type loggingConfig struct {
	LogFormat           string `json:",omitempty"`
	ApplicationLogLevel string `json:",omitempty"` // with the format JSON
	SystemLogLevel      string `json:",omitempty"` // the same
	LogGroup            string `json:",omitempty"`
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
