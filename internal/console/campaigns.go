package console

import (
	"context"
	"strings"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
)

func campaigns(ctx context.Context, a *asking) (any, error) {
	return list(ctx, a, a.door.CampaignsAfter)
}

func showCampaign(ctx context.Context, a *asking) (any, error) {
	c, err := a.door.Campaign(ctx, a.r.PathValue("ns"), a.r.PathValue("campaign"))
	return &c, err
}

// CampaignPath is the path of a campaign's page below Base.
func (v *view) CampaignPath(c httpdoor.Campaign) string {
	ns, _, _ := strings.Cut(c.Queue, "/")
	return "campaign/" + segment(ns) + "/" + segment(c.ID)
}

// Settled is which part of a campaign's messages, of those made so far, needs nothing any more.
func (v *view) Settled(c httpdoor.Campaign) float64 {
	if c.Made == 0 {
		return 0
	}
	return float64(c.Made-min(c.Left, c.Made)) / float64(c.Made)
}

// become makes an act that changes a campaign.
func become(to campaign.State) func(context.Context, *asking) (outcome, error) {
	return func(ctx context.Context, a *asking) (outcome, error) {
		c, err := a.door.ChangeCampaign(ctx, a.r.PathValue("ns"), a.r.PathValue("campaign"), to)
		if err != nil {
			return outcome{}, err
		}
		return outcome{to: a.CampaignPath(c), said: a.T("The campaign is now: %s.", a.T(string(c.State)))}, nil
	}
}
