package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// events tells a browser what happens, as server-sent events, until it goes away or the page is closed.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	news := make(chan news, 1)
	if !p.stage.listen(news) {
		refuse(w, http.StatusServiceUnavailable, errors.New("too many browsers look at this page"))
		return
	}
	defer p.stage.leave(news)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		select {
		case n := <-news:
			b, err := json.Marshal(n)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil || out.Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-p.stage.ctx.Done():
			return
		}
	}
}
