package queue

// saves lets a checkpoint be taken beside the work: it is of one moment, and yet nobody waits for all of it to be copied. A page that is
// about to change for the first time since that moment leaves its image here; all others are still as they were when their turn comes.
type saves struct {
	number  uint64           // of the checkpoint begun last
	images  map[*page][]byte // while one is being taken: of pages that have changed since it began; else nil
	done    int              // checkpoints that were saved
	retired []retired        // in the order in which they were
}

// newest is the number that a page has to bear which no checkpoint under way needs.
func (s *saves) newest() uint64 {
	if s == nil {
		return 0
	}
	return s.number
}

// touch has to be called before anything of the page changes.
func (p *page) touch() {
	s := p.of.saves
	if s == nil || s.images == nil || p.saved == s.number {
		return
	}
	s.images[p] = p.appendImage(nil)
	p.saved = s.number
}

// image is the page as it was when the checkpoint began; b is room for it.
func (s *saves) image(p *page, b []byte) []byte {
	if p.saved == s.number {
		image := s.images[p]
		delete(s.images, p)
		return image
	}
	p.saved = s.number
	return p.appendImage(b)
}
