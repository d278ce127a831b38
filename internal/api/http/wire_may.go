package http

// May is what the user who asks may do with a queue or topic of some name, whether there is one or not.
type May struct {
	User string   `json:"user,omitempty"` // without users there is none
	Can  []string `json:"can"`            // put, take, admin and push, as far as they are granted
}
