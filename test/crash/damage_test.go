//go:build linux

package crash

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// stored makes a store with three messages of distinct bodies in a queue, and stops it.
func stored(t *testing.T) (dataDir string) {
	t.Helper()
	dataDir = filepath.Join(t.TempDir(), "data")
	s := serve(t, preamble(dataDir))
	for _, b := range letters {
		s.put(t, "letters", b)
	}
	s.stop(t)
	checkJournal(t, dataDir)
	return dataDir
}

var letters = []string{"the first letter", "the second letter", "the third letter"}

// flip changes one byte of the journal's first segment.
func flip(t *testing.T, dataDir string, where func(log []byte) int) {
	t.Helper()
	path := filepath.Join(dataDir, "journal", "0000000000000000.log")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := where(log)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{log[at] ^ 0x20}, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// take claims everything that is ready and returns the bodies.
func take(t *testing.T, s *served, name string) []string {
	t.Helper()
	claims, err := s.client.Claim(t.Context(), queueName(name),
		httpdoor.ClaimRequest{Max: 100, Wait: httpdoor.Duration(10 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	bs := make([]string, len(claims))
	for i := range claims {
		b, err := claims[i].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		bs[i] = string(b)
	}
	return bs
}

func TestADamagedBodyIsReportedAndSetAsideAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	data := stored(t)
	flip(t, data, func(log []byte) int { return bytes.Index(log, []byte(letters[1])) + 5 })
	if r := hikyaku(t, "", "journal", "check", data); r.code != 1 || !damages(r, 1) {
		t.Errorf("journal check: %+v", r)
	}
	s := serve(t, preamble(data))
	if got := strings.Join(take(t, s, "letters"), ", "); got != letters[0]+", "+letters[2] {
		t.Errorf("delivered %q", got)
	}
	until(t, says("the damaged one is a dead letter"), func() bool { return s.stats(t, "letters_dead").Messages == 1 })
	dead, err := s.client.Peek(t.Context(), queueName("letters_dead"), httpdoor.PeekRequest{})
	if err != nil || len(dead) != 1 || dead[0].Death == nil || !strings.Contains(dead[0].Death.Reason, "damage") ||
		dead[0].Death.Queue != "default/letters" {
		t.Errorf("dead letters: %+v %v", dead, err)
	}
	if b, err := dead[0].Bytes(); err != nil || strings.Contains(string(b), "letter") {
		t.Errorf("the damaged body was handed out: %q %v", b, err)
	}
	if st := s.stats(t, "letters"); st.Messages != 2 {
		t.Errorf("%+v", st)
	}
	s.stop(t)
}

func TestRepairMakesAJournalWithADamagedSegmentHeaderOpenAgain(t *testing.T) {
	t.Parallel()
	data := stored(t)
	flip(t, data, func([]byte) int { return 24 })
	if _, err := tryServe(t, binary, preamble(data)); err == nil ||
		!strings.Contains(err.Error(), "0000000000000000.log, offset 0") ||
		!strings.Contains(err.Error(), "journal check") {
		t.Errorf("a start with damage: %v", err)
	}
	if r := hikyaku(t, "", "journal", "check", data); r.code != 1 || !damages(r, 1) {
		t.Errorf("journal check: %+v", r)
	}
	// Nothing is lost with a header, so no consent is asked for.
	if r := hikyaku(t, "", "journal", "repair", data); r.code != 0 || !strings.Contains(r.stdout, "copy: ") {
		t.Errorf("repair: %+v", r)
	}
	checkJournal(t, data)
	s := serve(t, preamble(data))
	if got := strings.Join(take(t, s, "letters"), ", "); got != strings.Join(letters, ", ") {
		t.Errorf("after the repair there are %q", got)
	}
	s.stop(t)
	checkJournal(t, data)
}

// TestADamagedLastMessageThatNothingVouchesForIsSaidToBePerhapsAcknowledged damages the last message after a kill and
// takes the note of what was synced away, as a power cut does. Nobody can tell that from a write that was cut off.
func TestADamagedLastMessageThatNothingVouchesForIsSaidToBePerhapsAcknowledged(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, preamble(data))
	for _, b := range letters {
		s.put(t, "letters", b)
	}
	s.kill() // before a second has passed, after which a seal vouches for it
	flip(t, data, func(log []byte) int { return bytes.Index(log, []byte(letters[2])) })
	if err := os.Remove(filepath.Join(data, "journal", "synced")); err != nil {
		t.Fatal(err)
	}
	if r := hikyaku(t, "", "journal", "check", data); r.code != 0 || !strings.Contains(r.stdout, "torn tail") ||
		!strings.Contains(r.stdout, "may have been acknowledged; the next start drops it") {
		t.Errorf("journal check: %+v", r)
	}
	s = serve(t, preamble(data))
	if got := strings.Join(take(t, s, "letters"), ", "); got != strings.Join(letters[:2], ", ") {
		t.Errorf("delivered %q", got)
	}
	if log := s.log(); !strings.Contains(log, "bytes behind the last sound group are dropped") ||
		!strings.Contains(log, "or they were the last that was appended, and the disk has lost them since") {
		t.Errorf("the start says\n%s", log)
	}
	s.stop(t)
	checkJournal(t, data)
}
