package push

// A call that avoids a connection waits in that connection's own line, from which all others take before they take from
// everybody's. As soon as no other can be expected to do so, all of that line go back to everybody's: to avoid a
// connection is a preference, and costs no waiting for streams or for the time of the next connection. Everything here
// is under the mutex.

// waiting is how many calls wait in any line.
func (c *Client) waiting() int { return c.line.n + c.shunning }

// enter puts a call into the line.
func (c *Client) enter(call *Call, avoid int) {
	if avoid != 0 {
		for _, k := range c.open {
			if k.number == avoid {
				call.avoid = k
				k.shunned.push(call)
				c.shunning++
				return
			}
		}
	}
	c.line.push(call)
}

// leave takes a call out of the line it is in.
func (c *Client) leave(call *Call) {
	if k := call.avoid; k != nil {
		call.avoid = nil
		k.shunned.remove(call)
		c.shunning--
		return
	}
	c.line.remove(call)
}

// first is the next call that a connection may take, or nil. One whose deadline has passed is the keeper's to end.
func (c *Client) first(k *conn) *Call {
	if c.shunning > 0 {
		if call := c.fromOthers(k); call != nil {
			return call
		}
	}
	if call := c.line.first; call != nil && !call.late(c.clock) {
		return call
	}
	return nil
}

func (c *Client) fromOthers(k *conn) *Call {
	for _, other := range c.open {
		if other != k && other.shunned.n > 0 {
			return other.shunned.first
		}
	}
	return nil
}

// unshun lets the calls that avoid a connection go anywhere, before all others.
func (k *conn) unshun() {
	for k.shunned.n > 0 {
		call := k.shunned.last
		k.c.leave(call)
		k.c.line.back(call)
	}
}

// lookElsewhere finds connections for the calls that avoid one, or lets them go anywhere.
func (c *Client) lookElsewhere() {
	for _, k := range c.open {
		if k.shunned.n > 0 && !c.elsewhere(k) {
			k.unshun()
		}
	}
}

// elsewhere tells whether there is, or soon will be, a connection for the calls that avoid this one.
func (c *Client) elsewhere(k *conn) bool {
	found := false
	for _, other := range c.open {
		switch {
		case other == k:
		case other.takes(k.shunned.first):
			found = true
			other.rouse()
			if other.writing {
				c.due(other.since + stallAfter) // else it looks at the line when it has written
			}
		case other.onTrial():
			found = true
			c.due(other.trialTill)
		}
	}
	if found {
		return true
	}
	if !c.dialing {
		return c.dial()
	}
	if c.clock >= c.dialTill {
		return false
	}
	c.due(c.dialTill)
	return true
}
