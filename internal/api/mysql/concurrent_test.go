package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestEachRowIsEndedOnce lets 16 clients put, wait, end, abort and disappear on three tables, and checks that each row
// that was put was ended by exactly one of them.
func TestEachRowIsEndedOnce(t *testing.T) {
	const clients, perClient, tables = 16, 40, 3
	r := newRig(t, Config{}, nil)
	setup := r.connect("")
	for n := range tables {
		exec(t, setup, fmt.Sprintf("CREATE TABLE t%d (id int NOT NULL, prio int NOT NULL) ENGINE=QUEUE", n))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	h := history{put: map[string]bool{}, ended: map[string]int{}}
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			w := &worker{r: r, h: &h, random: rand.New(rand.NewPCG(1, uint64(n))), n: n}
			defer w.hangUp()
			if err := w.work(ctx, perClient, tables, clients*perClient); err != nil {
				t.Errorf("client %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	for row := range h.put {
		if h.ended[row] != 1 {
			t.Errorf("row %s was ended %d times", row, h.ended[row])
		}
	}
	for row, n := range h.ended {
		if !h.put[row] {
			t.Errorf("row %s was ended %d times and never put", row, n)
		}
	}
	for n := range tables {
		one(t, setup, int64(0), fmt.Sprintf("SELECT COUNT(*) FROM t%d", n))
		st, err := r.store.Stats(t.Context(), inTest(fmt.Sprintf("t%d", n)))
		if err != nil || st.Messages() != 0 {
			t.Errorf("t%d: %d left, %v", n, st.Messages(), err)
		}
	}
}

// history is what was put and what was ended.
type history struct {
	mu    sync.Mutex
	put   map[string]bool
	ended map[string]int
}

// record notes rows that were put, or one that was ended, and returns how many were ended so far.
func (h *history) record(put []string, ended string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, row := range put {
		h.put[row] = true
	}
	if ended != "" {
		h.ended[ended]++
	}
	return len(h.ended)
}

type worker struct {
	r      *rig
	h      *history
	random *rand.Rand
	n      int
	db     *sql.DB
	conn   *sql.Conn
}

func (w *worker) hangUp() {
	if w.db != nil {
		w.db.Close()
		w.conn.Close()
		w.db, w.conn = nil, nil
	}
}

// connection is the worker's, made anew after it hung up.
func (w *worker) connection(ctx context.Context) (*sql.Conn, error) {
	if w.conn != nil {
		return w.conn, nil
	}
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/test?interpolateParams=%t", w.r.addr, w.n%2 == 0))
	if err != nil {
		return nil, err
	}
	if w.conn, err = db.Conn(ctx); err != nil {
		db.Close()
		return nil, err
	}
	w.db = db
	return w.conn, nil
}

// work puts its share of rows and takes rows until all there will be are ended.
func (w *worker) work(ctx context.Context, mine, tables, all int) error {
	for put := 0; ; {
		c, err := w.connection(ctx)
		if err != nil {
			return err
		}
		if put < mine && w.random.IntN(2) == 0 {
			n := min(1+w.random.IntN(3), mine-put)
			table := w.random.IntN(tables)
			statement := fmt.Sprintf("INSERT INTO t%d VALUES", table)
			var rows []string
			for i := range n {
				id := w.n*1000 + put + i
				if i > 0 {
					statement += ","
				}
				statement += fmt.Sprintf(" (%d, %d)", id, w.random.IntN(2))
				rows = append(rows, fmt.Sprintf("%d/%d", table, id))
			}
			if _, err := c.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
			w.h.record(rows, "")
			put += n
		}
		ended, err := w.take(ctx, c)
		if err != nil {
			return err
		}
		if w.h.record(nil, ended) == all && put == mine {
			return nil
		}
	}
}

// take waits a moment for a row and does one of the things that can be done with it. It returns the row that it ended.
func (w *worker) take(ctx context.Context, c *sql.Conn) (ended string, err error) {
	var place sql.NullInt64
	if err := c.QueryRowContext(ctx, "SELECT queue_wait('t0:prio=0', 't1', 't2:prio=1', 't0', 't2', ?)",
		w.random.IntN(2)).Scan(&place); err != nil {
		return "", fmt.Errorf("wait: %w", err)
	}
	if !place.Valid || place.Int64 == 0 {
		return "", nil
	}
	table := map[int64]int{1: 0, 2: 1, 3: 2, 4: 0, 5: 2}[place.Int64]
	var id, prio int
	if err := c.QueryRowContext(ctx, fmt.Sprintf("SELECT * FROM t%d", table)).Scan(&id, &prio); err != nil {
		return "", fmt.Errorf("look at the owned row: %w", err)
	}
	switch w.random.IntN(6) {
	case 0:
		_, err = c.ExecContext(ctx, "SELECT queue_abort()")
		return "", err
	case 1:
		w.hangUp()
		return "", nil
	case 2:
		_, err = c.ExecContext(ctx, fmt.Sprintf("DELETE FROM t%d", table))
	default:
		_, err = c.ExecContext(ctx, "SELECT queue_end()")
	}
	if err != nil {
		return "", fmt.Errorf("end: %w", err)
	}
	return fmt.Sprintf("%d/%d", table, id), nil
}
