package http

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/campaign"
)

// StartCampaign starts a campaign in a namespace.
func (c *Client) StartCampaign(ctx context.Context, namespace string, o CampaignOrder) (StartedCampaign, error) {
	var v StartedCampaign
	err := c.call(ctx, "POST", path(namespace, "campaigns"), o, &v)
	return v, err
}

// Campaigns are those of a namespace that are remembered, the newest first.
func (c *Client) Campaigns(ctx context.Context, namespace string) ([]Campaign, error) {
	all := []Campaign{}
	for after := ""; ; {
		some, next, err := c.CampaignsAfter(ctx, namespace, after, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if next == "" {
			return all, nil
		}
		after = next
	}
}

// CampaignsAfter are at most so many campaigns of a namespace from behind an id on; next is where to go on, "" at the
// end. most 0: as many as the door gives.
func (c *Client) CampaignsAfter(ctx context.Context, namespace, after string, most int) (some []Campaign, next string,
	err error) {
	var page campaignList
	q := url.Values{"after": {after}, "max": {strconv.Itoa(most)}}
	err = c.call(ctx, "GET", path(namespace, "campaigns")+"?"+q.Encode(), nil, &page)
	return page.Campaigns, page.Next, err
}

// Campaign is one of a namespace.
func (c *Client) Campaign(ctx context.Context, namespace, id string) (Campaign, error) {
	var v Campaign
	err := c.call(ctx, "GET", path(namespace, "campaigns", id), nil, &v)
	return v, err
}

// ChangeCampaign makes one Paused, Running or Cancelled.
func (c *Client) ChangeCampaign(ctx context.Context, namespace, id string, to campaign.State) (Campaign, error) {
	word, known := map[campaign.State]string{
		campaign.Paused: "pause", campaign.Running: "resume", campaign.Cancelled: "cancel",
	}[to]
	if !known {
		return Campaign{}, fmt.Errorf("a campaign cannot be made %s", to)
	}
	var v Campaign
	err := c.call(ctx, "POST", path(namespace, "campaigns", id, word), nil, &v)
	return v, err
}
