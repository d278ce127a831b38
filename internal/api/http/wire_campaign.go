package http

import (
	"encoding/json"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
)

// Campaign is a campaign as it is now.
type Campaign = campaign.View

// CampaignOrder asks for a campaign. Its message has either of JSON and Body.
type CampaignOrder struct {
	Queue string          `json:"queue"`                // or topic, of the path's namespace
	JSON  json.RawMessage `json:"json,omitempty"`       // the message's body
	Body  string          `json:"body,omitempty"`       // the same, as a text
	Name  string          `json:"name,omitempty"`       // for people
	Key   string          `json:"key,omitempty"`        // an order with the same one starts nothing more
	At    *time.Time      `json:"at,omitempty"`         // not before
	Local string          `json:"local_time,omitempty"` // each user at that time of their own: 2006-01-02T15:04
	Rows  CampaignRows    `json:"rows,omitempty"`       // in place of those of the fanout's source
}

// CampaignRows are JSON objects. nil when they are left out; null is an empty list, which is refused.
type CampaignRows []json.RawMessage

// UnmarshalJSON implements json.Unmarshaler: it is called for null, too.
func (r *CampaignRows) UnmarshalJSON(data []byte) error {
	all := []json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if all == nil {
		all = []json.RawMessage{}
	}
	*r = all
	return nil
}

// StartedCampaign is the answer to an order.
type StartedCampaign struct {
	Campaign Campaign `json:"campaign"`
	// Before: an order with the key was carried out before, and this is its campaign.
	Before bool `json:"before,omitempty"`
}

type campaignList struct {
	Campaigns []Campaign `json:"campaigns"`
	Next      string     `json:"next,omitempty"` // the after= of the next page
}
