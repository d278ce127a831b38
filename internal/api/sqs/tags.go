package sqs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The limits of tags, in characters.
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

func checkTags(name string, tags map[string]string) error {
	if len(tags) > maxTags {
		return wire.InvalidParameter("Too many tags added for queue " + name + ".")
	}
	for key, value := range tags {
		switch {
		case key == "" || utf8.RuneCountInString(key) > maxTagKey:
			return wire.InvalidParameter(fmt.Sprintf("The key of a tag has 1 to %d characters: %.200q has not.",
				maxTagKey, key))
		case utf8.RuneCountInString(value) > maxTagValue:
			return wire.InvalidParameter(fmt.Sprintf("The value of a tag has at most %d characters: that of %.200q "+
				"has more.", maxTagValue, key))
		case len(key) >= 4 && strings.EqualFold(key[:4], "aws:"):
			return wire.InvalidParameter(fmt.Sprintf("The key of a tag cannot begin with aws: as %.200q does.", key))
		}
	}
	return nil
}

// edit changes what is remembered of the queue of a request. While it does, no other call of this process changes
// queues; when one of another process does, it begins anew.
func (c *call) edit(in wire.Request, change func(*view, *settings) error) error {
	return c.editBy(c.d.commit, in, change)
}

// editBy is edit by which keep keeps the change.
func (c *call) editBy(keep keeper, in wire.Request, change func(*view, *settings) error) error {
	n, err := c.on(in, access.Admin)
	if err != nil {
		return err
	}
	c.d.admin.Lock()
	defer c.d.admin.Unlock()
	for {
		v, err := c.d.existing(c.ctx(), n)
		if err != nil {
			return err
		}
		err = c.d.change(c.ctx(), v, func(s *settings) error { return change(v, s) }, keep)
		if !errors.Is(err, queue.ErrChanged) {
			return err
		}
	}
}

func (c *call) tagQueue(in *wire.TagQueueRequest) (wire.Response, error) {
	return nil, c.edit(in, func(v *view, s *settings) error {
		if s.Tags == nil {
			s.Tags = map[string]string{}
		}
		for key, value := range in.Tags {
			s.Tags[key] = value
		}
		return checkTags(v.name.Name, s.Tags)
	})
}

func (c *call) untagQueue(in *wire.UntagQueueRequest) (wire.Response, error) {
	return nil, c.edit(in, func(_ *view, s *settings) error {
		for _, key := range in.TagKeys {
			delete(s.Tags, key)
		}
		return nil
	})
}

func (c *call) listQueueTags(in *wire.ListQueueTagsRequest) (wire.Response, error) {
	v, err := c.looked(in)
	if err != nil {
		return nil, err
	}
	return &wire.ListQueueTagsResponse{Tags: v.Tags}, nil
}

// looked is the queue of a request, if the caller may see it, also as another process has changed it.
func (c *call) looked(in wire.Request) (*view, error) {
	n, err := c.at(in)
	if err != nil {
		return nil, err
	}
	v, err := c.d.existing(c.ctx(), n)
	if err != nil {
		return nil, err
	}
	kept, ok, err := c.d.store.Note(c.ctx(), room, noteKey(n))
	if err != nil || bytes.Equal(kept, v.kept) && ok == (v.kept != nil) {
		return v, err
	}
	c.d.changes.Add(1) // what was read before is read again
	return c.d.existing(c.ctx(), n)
}

func (c *call) getQueueAttributes(in *wire.GetQueueAttributesRequest) (wire.Response, error) {
	v, err := c.looked(in)
	if err != nil {
		return nil, err
	}
	names, all := map[string]bool{}, false
	for _, name := range in.AttributeNames {
		if name == "All" {
			all = true
		} else if _, ok := attributeNamed(name); !ok {
			return nil, wire.UnknownAttribute(shortened(name))
		}
		names[name] = true
	}
	out := new(wire.GetQueueAttributesResponse)
	s := v.subject()
	var stats *queue.Stats
	for _, a := range queueAttributes() {
		if !all && !names[a.name] || a.fifo && !v.fifo {
			continue
		}
		if a.counts && stats == nil {
			st, err := c.d.store.Stats(c.ctx(), v.name)
			if err != nil {
				return nil, err
			}
			stats = &st
		}
		if value := a.show(c, s, stats); value != "" {
			out.Attributes = append(out.Attributes, wire.Setting{Name: a.name, Value: value})
		}
	}
	return out, nil
}

func (c *call) setQueueAttributes(in *wire.SetQueueAttributesRequest) (wire.Response, error) {
	var changed *subject
	alter := func(ctx context.Context, is queue.NoteIs, note queue.Note) error {
		return c.d.store.Noted(note).If(is).AlterQueue(ctx, changed.name, changed.def)
	}
	return nil, c.editBy(alter, in, func(v *view, s *settings) error {
		changed = v.subject()
		if err := c.set(changed, in.Attributes); err != nil {
			return err
		}
		*s = changed.settings
		return nil
	})
}
