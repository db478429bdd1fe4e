# What can be done here. `make` alone lists it.
#
# `run` and `test` need Rust and a C compiler and nothing else. The others fetch pinned tools below target/tools first
# (scripts/tools), which takes Python 3 with venv; `check`, `conformance` and `test-aws` also want npm, `conformance` and
# `test-aws` Java 17, and `test-browser` Chromium.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Options of `local serve`, for instance: make run ARGS="--port 9090 --seed empty"
ARGS ?=
# The processor that `make build` builds functions for: x86-64 or arm64.
ARCH ?= x86-64
# That of a deployment: what it is told, or else the stage's own, which is arm64 if the stage is new.
GIVEN_ARCH = $(if $(filter command line environment,$(origin ARCH)),$(ARCH))
ARCH_OF_STAGE = $(or $(GIVEN_ARCH),$$(scripts/stack architecture "$(STAGE)"))

FUNCTIONS = $(notdir $(wildcard functions/*))
# How they are compiled; CI looks only at whether one builds and answers, and takes `lambda-tested`.
LAMBDA_PROFILE ?= lambda
# Builds all of them with some options; `hello`, a bare function to compare with, where it is asked for.
build_functions = cargo lambda build --profile $(LAMBDA_PROFILE) --$(ARCH) $(1) $(addprefix -p ,$(FUNCTIONS) $(2))
ZIPPED = --output-format zip --lambda-dir target/lambda-zip
CHECK_TOOLS = PATH="$$(scripts/tools check):$$PATH"
LAMBDA_TOOLS = PATH="$$(scripts/tools lambda):$$PATH"

.PHONY: help run test test-all test-browser test-aws test-stack conformance fuzz load check bench generate watch build package deploy destroy localstack

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## The whole service on this machine, until Ctrl-C
	cargo run -p local -- serve $(ARGS)

test: ## Unit tests, system tests against the local stack, and a walk through the app where there is a browser
	scripts/test

test-all: ## All tests, as CI runs them: with those below, lints, and a function built for Lambda
	scripts/test-all

test-browser: ## The app in Chromium: each page on a desktop and a phone, with an accessibility check; in all views with FULL=1
	scripts/test-browser

test-aws: ## What depends on AWS against DynamoDB Local and an emulator of the rest, or AWS_ENDPOINT_URL; all with FULL=1
	scripts/test-aws

test-stack: ## The template and functions deployed to an emulator of AWS, with the handbook's commands, and removed
	scripts/test-stack

conformance: ## The interface against programs that are not ours: linters, generated clients, MCP's suite, a fuzzer
	scripts/conformance

fuzz: ## Files of strangers, changed at random: ten minutes for each kind, or SECONDS
	COUNTERSIGN_FUZZ_SECONDS=$(or $(SECONDS),600) scripts/test -p fuzz

load: ## Fifty organizations at once on the local stack: SECONDS (300) beside a flood, then twice that in simulated time
	SECONDS=$(or $(SECONDS),300) cargo run --release -p tests --no-default-features --bin load

# The second run of clippy: the stack as `make run` builds it, without the feature `lambda`; and files in a bucket.
check: ## Format, wording, the template, lints, documentation, dependencies
	cargo fmt --all --check
	scripts/check-wording
	scripts/check-template
	scripts/check-aws-calls --handbook
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy -p local -p files --features files/s3 -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps
	$(CHECK_TOOLS); cargo deny check bans licenses sources
	$(CHECK_TOOLS); cargo shear
	"$$(scripts/tools typescript)/tsc" -p events/verify --noEmit

bench: ## Figures: calls, lists, pages, deliveries, start and size of functions; lists of 100,000 too with FULL=1
	cargo run --release -p tests --no-default-features --bin bench_api
	cargo run --release -p tests --no-default-features --bin bench_app
	cargo run --release -p tests --no-default-features --bin bench_webhooks
	$(LAMBDA_TOOLS); $(call build_functions,,hello)
	$(LAMBDA_TOOLS); $(call build_functions,$(ZIPPED),hello)
	COUNTERSIGN_FUNCTIONS=target/lambda cargo run --release -p tests --no-default-features --bin bench_start

generate: ## Writes what derives from the code: the API document, agents' tools, /docs, the template's routes, a table in docs
	cargo run -p local --bin generate

watch: ## Functions served by `cargo lambda watch`, rebuilt on every change
	$(LAMBDA_TOOLS); cargo run -p tests --bin watch

build: ## The functions for Lambda: target/lambda/NAME/bootstrap
	$(LAMBDA_TOOLS); $(call build_functions,)

# An SBOM in the form of CycloneDX beside each zip, where `scripts/tools sbom` can be compiled.
package: ## The functions zipped, target/lambda-zip/NAME/bootstrap.zip, with what they are made of, and their sizes
	$(LAMBDA_TOOLS); $(call build_functions,$(ZIPPED))
	scripts/package

# What CloudFormation would say about a stage without a fitting name only after everything is built and uploaded.
NAMED = [[ "$(STAGE)" =~ ^[a-z][a-z0-9-]{0,19}$$ ]] || { echo "STAGE is the name of the stage, such as STAGE=prod: a lowercase letter, then up to 19 of a-z, 0-9 and -" >&2; exit 2; }

deploy: ## Deploys STAGE to AWS; shows what changes and asks first. PARAMETERS="DomainName=…", ARCH=x86-64
	@$(NAMED)
	arch="$(ARCH_OF_STAGE)"; $(MAKE) package ARCH="$$arch"
	arch="$(ARCH_OF_STAGE)"; scripts/stack deploy "$(STAGE)" Architecture="$${arch//-/_}" $(PARAMETERS)

destroy: ## Removes STAGE from AWS; refuses while there are data, unless LOSE_DATA or KEEP_DATA say what becomes of them
	@$(NAMED)
	scripts/stack destroy "$(STAGE)"

localstack: ## A stage on LocalStack and a first session there; takes Docker and LOCALSTACK_AUTH_TOKEN
	scripts/stack localstack
