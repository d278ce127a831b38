package clients_test

import (
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// example is the folder of the example that is run here.
const example = "../../../examples/sqs-collector-sender"

// built is what the tests run.
var built = conformance.Built{Java: []string{
	"java/Conformance.java", "java/Sqs.java", "java/SqsV1.java", "java/SqsV2.java",
	filepath.Join(example, "src/main/java/Queue.java"), filepath.Join(example, "src/main/java/Collector.java"),
	filepath.Join(example, "src/main/java/Sender.java"),
}}

func TestMain(m *testing.M) { built.Main(m, "sqs") }
