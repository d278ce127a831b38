package http

import (
	"context"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// campaigns is the server's registry.
func (c *call) campaigns() (*campaign.Registry, error) {
	if c.d.campaigns == nil {
		return nil, notReady.problem("this server has no campaigns")
	}
	return c.d.campaigns, nil
}

// mayPush tells whether the user may see and control the campaigns of a queue.
func (c *call) mayPush(full string) bool {
	n, err := queue.ParseName(full)
	return err == nil && n.Namespace == c.namespace() && c.may(access.Push, n) == nil
}

// namespace is that of the path, without aliases.
func (c *call) namespace() string {
	return c.d.store.Resolve(queue.Name{Namespace: c.r.PathValue("ns"), Name: "campaigns"}).Namespace
}

func listCampaigns(c *call) error {
	if err := c.only("after", "max"); err != nil {
		return err
	}
	r, err := c.campaigns()
	if err != nil {
		return err
	}
	asked, err := c.number("max", MaxList)
	if err != nil {
		return err
	}
	after := c.r.URL.Query().Get("after")
	var names []queue.Name
	next := ""
	for _, id := range r.List(c.mayPush) {
		if after != "" && id >= after {
			continue
		}
		if len(names) == or(int(asked), MaxList) {
			next = names[len(names)-1].Name
			break
		}
		names = append(names, queue.Name{Name: id})
	}
	return c.list("campaigns", names, next, func(n queue.Name) (any, error) {
		v, err := r.Show(n.Name)
		if err != nil {
			return nil, nil // forgotten since
		}
		v.Body = ""
		return v, nil
	})
}

func startCampaign(c *call) error {
	if err := c.only(); err != nil {
		return err
	}
	r, err := c.campaigns()
	if err != nil {
		return err
	}
	data, err := c.body(true)
	if err != nil {
		return err
	}
	var given CampaignOrder
	if err := decode(data, &given); err != nil {
		return err
	}
	n, err := c.resolve(queue.Name{Namespace: c.r.PathValue("ns"), Name: given.Queue})
	if err != nil {
		return err
	}
	for _, action := range []access.Action{access.Put, access.Push} {
		if err := c.may(action, n); err != nil {
			return err
		}
	}
	if given.JSON != nil && given.Body != "" {
		return badRequest.problem("body stands beside json: a message has one body")
	}
	o := campaign.Order{
		Queue: n, Body: []byte(given.Body), Name: given.Name, Key: given.Key, Local: given.Local, Rows: given.Rows,
	}
	if given.JSON != nil {
		o.Body = given.JSON
	}
	if given.At != nil {
		o.At = *given.At
	}
	v, before, err := r.Start(c.ctx(), o)
	if err != nil {
		return err
	}
	if !before {
		c.did("startCampaign", v.ID, nil)
	}
	return c.w.json(http.StatusOK, StartedCampaign{v, before})
}

// campaignOf is the campaign of the path. One that the user may not see is not there.
func (c *call) campaignOf() (*campaign.Registry, campaign.View, error) {
	if err := c.only(); err != nil {
		return nil, campaign.View{}, err
	}
	r, err := c.campaigns()
	if err != nil {
		return nil, campaign.View{}, err
	}
	v, err := r.Show(c.r.PathValue("campaign"))
	if err == nil && !c.mayPush(v.Queue) {
		err = campaign.ErrNotFound
	}
	return r, v, err
}

func showCampaign(c *call) error {
	_, v, err := c.campaignOf()
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, v)
}

// changeCampaign pauses, resumes or cancels.
func changeCampaign(operation string,
	change func(*campaign.Registry, context.Context, string) (campaign.View, error),
) func(*call) error {
	return func(c *call) error {
		r, v, err := c.campaignOf()
		if err != nil {
			return err
		}
		if v, err = change(r, c.ctx(), v.ID); err != nil {
			return err
		}
		c.did(operation, v.ID, nil)
		return c.w.json(http.StatusOK, v)
	}
}
