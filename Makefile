# Everything that a newcomer and the continuous build run. `make` alone lists it.

GO            ?= go
FUZZTIME      ?= 30
SOAKTIME      ?= 1h
CLUSTERFAULTS ?= 1000
STATEMENTS    ?= 1000000
REPEAT        ?= 20
PKG           ?= ./...
TAGS          ?=
BENCH         ?= push
ARGS          ?=
BEFORE        ?= main
SYSTEMS       ?=

# The tests below test/ run clients and servers of others, and those of the push engine and of the sinks into databases servers.
NEED_CLIENTS := $(if $(filter ./... ./test/... ./test/clients% ./internal/push% ./internal/source% ./internal/sink% ./internal/databasetest%,$(PKG)),need-clients)
NEED_RPM := $(if $(filter ./... ./test/... ./test/release%,$(PKG)),need-rpm)

# make runs a line that has MAKE in it also when it was only asked to print it (-n).
AGAIN := $(MAKE) --no-print-directory

export GO
# Without its tag go-mysql-server wants cgo and ICU.
comma := ,
export GOFLAGS := $(GOFLAGS) -tags=gms_pure_go$(addprefix $(comma),$(TAGS))
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ To use it

.PHONY: demo
demo: build ## Build hikyaku and watch its main job: Ctrl-C ends it
	bin/hikyaku demo

.PHONY: demo-cluster
demo-cluster: build ## Kill the owner of three nodes every five seconds, and count what is lost
	bin/hikyaku demo cluster

.PHONY: build
build: need-go ## Build bin/hikyaku; TAGS=no_mysql leaves out the MySQL door, no_cluster the log of clusters
	@scripts/build

##@ To work on it

# While the network brings what the clients need, the processors look at the code. The C compiler comes before both: without it Go builds
# everything in another way, and all of it once more when it is there.
.PHONY: test
test: need-go need-cc need-curl $(NEED_RPM) ## Everything that a push has to pass
	@$(if $(NEED_CLIENTS),scripts/need-clients,:) & $(AGAIN) format vet staticcheck floors; looked=$$?; wait $$! && exit $$looked
	@scripts/unit $(PKG)
	@$(AGAIN) fuzz-short

.PHONY: check
check: need-go ## Look at what changed since the main branch, in a minute or so
	@scripts/check

.PHONY: fmt
fmt: need-go ## Format the Go files
	@scripts/format -w

.PHONY: format
format: need-go ## Check that the Go files are formatted
	@scripts/format

.PHONY: vet
vet: need-go ## Let go vet look at PKG
	$(GO) vet $(PKG)

.PHONY: staticcheck
staticcheck: need-go ## Let staticcheck look at PKG; go.mod pins its version
	$(GO) tool staticcheck $(PKG)

.PHONY: floors
floors: need-go ## Check that rooms import only rooms below them (docs/architecture.md)
	$(GO) test ./internal/house

.PHONY: systems
systems: need-go ## Build everything for Linux, macOS and Windows
	@for system in linux darwin windows; do \
		echo "GOOS=$$system $(GO) build ./..."; \
		GOOS=$$system GOARCH=amd64 CGO_ENABLED=0 $(GO) build ./... || exit; \
	done

.PHONY: unit
unit: need-go need-cc need-curl $(NEED_CLIENTS) $(NEED_RPM) ## Run the tests of PKG, those of our own code with the race detector
	@scripts/unit $(PKG)

.PHONY: fuzz-short
fuzz-short: need-go
	@FUZZTIME=2 FUZZBUDGET=30 FUZZSHARE=6 scripts/fuzz

.PHONY: fuzz
fuzz: need-go ## Fuzz every parser for FUZZTIME seconds (30)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: soak-short
soak-short: need-go
	$(GO) test -vet=off -timeout 20m ./test/soak ./internal/queue ./internal/journal/file

.PHONY: soak
soak: need-go ## Break the store in new ways on all processors for SOAKTIME (1h), then fuzz
	$(GO) test -vet=off -count=1 -timeout 0 ./test/crash -times 6
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^TestWhatFiveDoors' ./test/crash -times 200
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^(TestWhatFiveDoors|TestIdleAnd|TestNothingGrows)' ./test/crash -raced -times 20 -watch 5m
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^(TestIdleAnd|TestNothingGrows)' ./test/crash -times 20 -watch 20m
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^TestSoak$$' ./test/soak -soak $(SOAKTIME)
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^TestStatementsStay' ./internal/api/mysql -statements $(STATEMENTS) -all
	$(GO) test -vet=off -count=1 -timeout 0 ./internal/api/mysql -all
	$(GO) test -vet=off -count=1 -timeout 0 ./internal/queue ./internal/journal/file -all
	$(GO) test -vet=off -count=1 -race -timeout 0 ./internal/bench/...
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^TestEveryDamage' ./internal/journal/file -damage-bytes
	@FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: soak-cluster
soak-cluster: need-go ## Break a cluster of three nodes CLUSTERFAULTS times (1000), or for so long (2h)
	$(GO) test -vet=off -count=1 -v -timeout 0 -run '^TestWhatACluster' ./test/crash -faults $(CLUSTERFAULTS)

.PHONY: test-cluster
test-cluster: need-go need-cc need-curl need-clients ## Run the clients of others against a cluster of three nodes
	HIKYAKU_CLIENTS_CLUSTER=1 $(GO) test -vet=off -count=1 -timeout 60m ./test/clients/mysql ./test/clients/pubsub ./test/clients/sqs ./test/clients/lambda

.PHONY: test-guests
test-guests: need-go ## Run the tests that need Windows (in Wine) or another kernel (in QEMU)
	@scripts/guests

.PHONY: repeat
repeat: need-go need-cc need-curl $(NEED_CLIENTS) $(NEED_RPM) ## Run the tests of PKG REPEAT times (20) in random order
	$(GO) test -vet=off -race -timeout 8h -shuffle=on -count=$(REPEAT) $(PKG)

.PHONY: measured
measured: build ## Run BENCH (push) and write its tables and pictures into docs/measured; ARGS="--pushy" adds flags
	bin/hikyaku bench $(BENCH) $(ARGS) --page docs/measured

.PHONY: compare
compare: build ## Run BENCH of this tree and of the commit BEFORE in turns, and tell what has changed; ARGS adds flags
	@scripts/compare "$(BEFORE)" $(BENCH) $(ARGS)

.PHONY: container
container: need-go ## Build a container image with buildah, podman or docker; NAME=hikyaku:1.0 names it
	@scripts/container $(NAME)

.PHONY: release
release: need-go ## Make archives and packages for Linux, macOS and Windows in dist; SYSTEMS=linux/amd64 makes one
	@scripts/release $(SYSTEMS)

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nVariables: PKG=./internal/queue/... FUZZTIME=30 SOAKTIME=1h CLUSTERFAULTS=1000 REPEAT=20 BENCH=push GO=go\n'

# clients-python, clients-node and so on; an unknown one lists them.
clients-%:
	@scripts/need-clients $*

.PHONY: need-go need-cc need-curl need-rpm need-clients
need-go:
	@scripts/need go
need-cc:
	@scripts/need cc
need-curl:
	@scripts/need curl
need-rpm:
	@scripts/need rpm
need-clients:
	@scripts/need-clients
