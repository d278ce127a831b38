package bill

import (
	"strconv"
	"time"
)

// Start is the line that opens an invocation in the log.
func Start(requestID, version string) string {
	return "START RequestId: " + requestID + " Version: " + version
}

// End is the line that closes an invocation.
func End(requestID string) string { return "END RequestId: " + requestID }

// Report is the line that sums an invocation up: fields in the provider's order with tabs behind them. What could not
// be measured or is not enforced is said in words of our own behind the provider's fields.
func Report(requestID string, u Usage, c Charge) string {
	b := make([]byte, 0, 256)
	b = append(b, "REPORT RequestId: "...)
	b = append(b, requestID...)
	b = append(b, "\tDuration: "...)
	b = appendMillis(b, u.Duration)
	b = append(b, " ms\tBilled Duration: "...)
	b = strconv.AppendInt(b, c.Billed.Milliseconds(), 10)
	b = append(b, " ms\tMemory Size: "...)
	b = strconv.AppendInt(b, int64(u.MemoryMB), 10)
	b = append(b, " MB\tMax Memory Used: "...)
	if u.PeakMB > 0 {
		b = strconv.AppendInt(b, int64(u.PeakMB), 10)
		b = append(b, " MB\t"...)
	} else {
		b = append(b, "unknown\t"...)
	}
	if u.Init > 0 && !u.Provisioned {
		b = append(b, "Init Duration: "...)
		b = appendMillis(b, u.Init)
		b = append(b, " ms\t"...)
	}
	b = appendStatus(b, u.Status, u.ErrorType)
	if !u.Limited {
		b = append(b, "Memory Limit: none\t"...)
	}
	return string(b)
}

// InitReport is the line about an initialisation that failed. phase is "init", or "invoke" when it was done inside an
// invocation; status is timeout or error, and errorType says more of an error.
func InitReport(took time.Duration, phase, status, errorType string) string {
	b := append(make([]byte, 0, 128), "INIT_REPORT Init Duration: "...)
	b = appendMillis(b, took)
	b = append(b, " ms\tPhase: "...)
	b = append(b, phase...)
	b = append(b, '\t')
	b = appendStatus(b, status, errorType)
	return string(b[:len(b)-1])
}

func appendStatus(b []byte, status, errorType string) []byte {
	if status != "" {
		b = append(b, "Status: "...)
		b = append(b, status...)
		b = append(b, '\t')
	}
	if errorType != "" {
		b = append(b, "Error Type: "...)
		b = append(b, errorType...)
		b = append(b, '\t')
	}
	return b
}

// appendMillis writes milliseconds with two digits behind the point.
func appendMillis(b []byte, d time.Duration) []byte {
	hundredths := (max(d, 0) + 5*time.Microsecond) / (10 * time.Microsecond)
	b = strconv.AppendInt(b, int64(hundredths/100), 10)
	rest := int64(hundredths % 100)
	return append(b, '.', byte('0'+rest/10), byte('0'+rest%10))
}
