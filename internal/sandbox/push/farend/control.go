package farend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
)

// Control is how other processes tell the far end what to do and ask what it saw; serve it on a port of its own.
//
//	GET   /-/behaviour                         what goes now
//	PUT   /-/behaviour   {"streams": 100}      from now on this, and nothing else
//	PATCH /-/behaviour   {"streams": 0}        only this is changed
//	POST  /-/goaway?unprocessed=0.5            to all connections
//	POST  /-/reset?processed=true              all connections
//	GET   /-/counts                            totals
//	GET   /-/count?id=… or ?device=…           how often that message was processed, or one for that device
//	POST  /-/forget                            begins to count anew
func (s *Server) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/behaviour", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Behaviour()) })
	mux.HandleFunc("PUT /-/behaviour", func(w http.ResponseWriter, r *http.Request) { s.behave(w, r, false) })
	mux.HandleFunc("PATCH /-/behaviour", func(w http.ResponseWriter, r *http.Request) { s.behave(w, r, true) })
	mux.HandleFunc("POST /-/goaway", func(w http.ResponseWriter, r *http.Request) {
		share := 0.0
		if text := r.FormValue("unprocessed"); text != "" {
			var err error
			if share, err = strconv.ParseFloat(text, 64); err != nil || share < 0 || share > 1 {
				http.Error(w, fmt.Sprintf("unprocessed=%s is not a share from 0 to 1", text), http.StatusBadRequest)
				return
			}
		}
		s.GoAway(share)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /-/reset", func(w http.ResponseWriter, r *http.Request) {
		s.Reset(r.FormValue("processed") == "true")
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /-/counts", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Counts()) })
	mux.HandleFunc("GET /-/count", func(w http.ResponseWriter, r *http.Request) {
		if device := r.FormValue("device"); device != "" {
			writeJSON(w, s.CountDevice(device))
			return
		}
		writeJSON(w, s.Count(r.FormValue("id")))
	})
	mux.HandleFunc("POST /-/forget", func(w http.ResponseWriter, _ *http.Request) {
		s.Forget()
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// behave takes a behaviour; on top of the present one, it replaces the members that it names.
func (s *Server) behave(w http.ResponseWriter, r *http.Request, onTop bool) {
	members := map[string]json.RawMessage{}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<20)).Decode(&members)
	if err == nil && onTop {
		err = under(s.Behaviour(), members)
	}
	var b Behaviour
	if err == nil {
		err = strictly(members, &b)
	}
	if err == nil {
		err = s.Behave(b)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// under adds the members of b that are not there.
func under(b Behaviour, members map[string]json.RawMessage) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	present := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &present); err != nil {
		return err
	}
	maps.Copy(present, members)
	maps.Copy(members, present)
	return nil
}

func strictly(members map[string]json.RawMessage, into *Behaviour) error {
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // a client that is gone misses nothing
}
