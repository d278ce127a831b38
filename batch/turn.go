package batch

// PostTurn is Post by somebody who can work for the grouper. When the item could leave at once and a handler is free,
// that handler sleeps on and the caller gets its turn: a function that he has to call, once and soon, on any goroutine,
// and that calls Handle there, with the item and those that came meanwhile. A lone item is then handled without waking
// anybody, which costs more than many a handler's work: two switches of goroutines, and of processors that slept. A nil
// turn means that handlers see to the item, as after Post.
//
// Until the turn is called its handler's place is taken: with one handler nothing else is handled, so between PostTurn
// and the turn the caller must not wait for another item, nor hold a lock that Handle needs. Handle may not tell
// whether it runs in a handler or in a turn. A panic of it becomes the error of the items here, too. Close waits for
// turns.
func (g *Grouper[T]) PostTurn(item T) (turn func(), err error) {
	e := g.entry(item, nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.take(e); err != nil {
		return nil, err
	}
	if g.idle == 0 || g.waking || g.queue.n > 1 || g.due() == stays {
		g.wake()
		return nil, nil
	}
	g.idle-- // nobody can wake it
	g.lent++
	g.ended.Add(1)
	return g.turn, nil
}

// serveTurn is what a free handler would do when it is woken, until there is nothing else to do but to wait or somebody
// else's group.
func (g *Grouper[T]) serveTurn() {
	h, mine := g.beginTurn()
	defer g.endTurn(h)
	if mine {
		g.handle(h)
	}
}

// beginTurn takes a group, unless another handler was faster.
func (g *Grouper[T]) beginTurn() (h *hand[T], mine bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.spare); n > 0 {
		h, g.spare = g.spare[n-1], g.spare[:n-1]
	} else {
		h = new(hand[T])
	}
	why := g.due()
	if why == stays {
		return h, false
	}
	g.leave(h, why)
	return h, true
}

// endTurn gives the place back to the handler, and wakes it when more waits. It is called also when Handle ended the
// goroutine.
func (g *Grouper[T]) endTurn(h *hand[T]) {
	g.mu.Lock()
	g.spare = append(g.spare, h)
	g.lent--
	switch {
	case !g.closed:
		g.idle++
		g.wake()
	case g.lent == 0:
		g.work.Broadcast()
	}
	g.mu.Unlock()
	g.ended.Done()
}
