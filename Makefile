# Everything that a newcomer and the continuous build run. `make` alone lists it.

GO         ?= go
FUZZTIME   ?= 30
SOAKCOUNT  ?= 20
PKG        ?= ./...

export GO
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ To use it

.PHONY: demo
demo: build ## Build hikyaku and watch its main job: Ctrl-C ends it
	bin/hikyaku demo

.PHONY: build
build: need-go ## Build bin/hikyaku
	$(GO) build -trimpath -o bin/ ./cmd/hikyaku

##@ To work on it

.PHONY: test
test: format vet staticcheck floors unit fuzz-short ## Everything that a push has to pass

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

.PHONY: unit
unit: need-go need-cc need-curl ## Run the tests of PKG with the race detector
	$(GO) test -vet=off -race -timeout 10m $(PKG)

.PHONY: fuzz-short
fuzz-short: need-go
	@FUZZTIME=2 FUZZBUDGET=90 scripts/fuzz

.PHONY: fuzz
fuzz: need-go ## Fuzz every parser for FUZZTIME seconds (30)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: soak
soak: need-go need-cc need-curl ## Run the tests of PKG SOAKCOUNT times (20) in random order, then fuzz: for a night
	$(GO) test -vet=off -race -timeout 8h -shuffle=on -count=$(SOAKCOUNT) $(PKG)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nVariables: PKG=./internal/queue/... FUZZTIME=30 SOAKCOUNT=20 GO=go\n'

.PHONY: need-go need-cc need-curl
need-go:
	@scripts/need go
need-cc:
	@scripts/need cc
need-curl:
	@scripts/need curl
