package http

import "github.com/hikyaku/hikyaku/internal/campaign"

// route is one operation of the door. openapi.yaml describes each under the same path, method and operation name.
type route struct {
	method    string
	path      string // a pattern of http.ServeMux
	operation string // the name in metrics and in openapi.yaml
	open      bool   // for everyone, also without a secret
	handle    func(*call) error
}

func (s *Server) routes() []route {
	return []route{
		{"GET", "/healthz", "health", true, health},
		{"GET", "/livez", "live", true, health},
		{"GET", "/readyz", "ready", true, ready},
		{"GET", "/openapi.yaml", "describe", true, describe},
		{"GET", "/metrics", "metrics", false, metrics},

		{"GET", "/{ns}/queues", "listQueues", false, listQueues},
		{"PUT", "/{ns}/queues/{queue}", "createQueue", false, createQueue},
		{"GET", "/{ns}/queues/{queue}", "showQueue", false, showQueue},
		{"PATCH", "/{ns}/queues/{queue}", "alterQueue", false, alterQueue},
		{"DELETE", "/{ns}/queues/{queue}", "deleteQueue", false, deleteQueue},

		{"GET", "/{ns}/topics", "listTopics", false, listTopics},
		{"PUT", "/{ns}/topics/{topic}", "createTopic", false, createTopic},
		{"GET", "/{ns}/topics/{topic}", "showTopic", false, showTopic},
		{"DELETE", "/{ns}/topics/{topic}", "deleteTopic", false, deleteTopic},
		{"PUT", "/{ns}/topics/{topic}/subscriptions/{queue}", "subscribe", false, subscribe},
		{"DELETE", "/{ns}/topics/{topic}/subscriptions/{queue}", "unsubscribe", false, unsubscribe},

		{"POST", "/{ns}/queues/{queue}/messages", "put", false, putMessages},
		{"POST", "/{ns}/topics/{topic}/messages", "publish", false, publishMessages},
		{"GET", "/{ns}/queues/{queue}/messages", "peek", false, peek},

		{"POST", "/{ns}/queues/{queue}/claim", "claim", false, claimQueue},
		{"POST", "/{ns}/claim", "claimFrom", false, claimFrom},
		{"POST", "/{ns}/settle", "settle", false, settle},
		{"POST", "/{ns}/extend", "extend", false, extend},

		{"POST", "/{ns}/queues/{queue}/purge", "purge", false, purge},
		{"POST", "/{ns}/queues/{queue}/replay", "replay", false, replay},
		{"POST", "/{ns}/queues/{queue}/seek", "seek", false, seek},

		{"GET", "/{ns}/may/{name}", "may", false, showMay},

		{"GET", "/{ns}/snapshots", "listSnapshots", false, listSnapshots},
		{"PUT", "/{ns}/snapshots/{snapshot}", "createSnapshot", false, createSnapshot},
		{"GET", "/{ns}/snapshots/{snapshot}", "showSnapshot", false, showSnapshot},
		{"DELETE", "/{ns}/snapshots/{snapshot}", "deleteSnapshot", false, deleteSnapshot},

		{"POST", "/{ns}/push/{sink}", "push", false, pushMessages},

		{"GET", "/{ns}/campaigns", "listCampaigns", false, listCampaigns},
		{"POST", "/{ns}/campaigns", "startCampaign", false, startCampaign},
		{"GET", "/{ns}/campaigns/{campaign}", "showCampaign", false, showCampaign},
		{"POST", "/{ns}/campaigns/{campaign}/pause", "pauseCampaign", false,
			changeCampaign("pauseCampaign", (*campaign.Registry).Pause)},
		{"POST", "/{ns}/campaigns/{campaign}/resume", "resumeCampaign", false,
			changeCampaign("resumeCampaign", (*campaign.Registry).Resume)},
		{"POST", "/{ns}/campaigns/{campaign}/cancel", "cancelCampaign", false,
			changeCampaign("cancelCampaign", (*campaign.Registry).Cancel)},

		{"POST", "/-/reload", "reload", false, reload},
		{"GET", "/-/top", "top", false, showTop},
		{"GET", "/-/past", "past", false, showPast},
		{"GET", "/-/tap", "tap", false, tap},
		{"GET", "/-/components/{component}", "showComponent", false, showComponent},

		{"GET", "/-/trace", "slowest", false, listSlowest},
		{"GET", "/-/trace/{id}", "trace", false, showTrace},

		{"GET", "/-/functions", "listFunctions", false, listFunctions},
		{"GET", "/-/functions/{function}", "showFunction", false, showFunction},
		{"GET", "/-/functions/{function}/log", "showFunctionLog", false, showFunctionLog},
		{"POST", "/-/functions/{function}/invoke", "invokeFunction", false, invokeFunction},

		{"GET", "/-/push/dead", "listDead", false, listDead},
		{"GET", "/-/push/dead/{sink}", "showDead", false, showDead},
		{"POST", "/-/push/dead/{sink}/find", "findDead", false, findDead},
		{"POST", "/-/push/dead/{sink}/revive", "reviveDead", false, reviveDead},
	}
}
