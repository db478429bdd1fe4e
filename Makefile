# What can be done here. `make` alone lists it.
#
# `run` and `test` need Rust and a C compiler and nothing else. The others fetch pinned tools below target/tools first
# (scripts/tools), which takes Python 3 with venv; `check` and `test-aws` also want npm, `test-aws` Java 17 and
# `test-browser` Chromium.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Options of `local serve`, for instance: make run ARGS="--port 9090 --seed empty"
ARGS ?=
# The processor that `make build` builds functions for: x86-64 or arm64.
ARCH ?= x86-64

# `picture-app`, `evidence-app` and `paper-api` apart: built with the others, they would lend them the features of what they
# draw and write with.
BUILD_FUNCTIONS = cargo lambda build --profile lambda --$(ARCH) -p read-api -p write-api -p proposals -p member-app -p money-app -p funding-app -p agreement-app -p organization-app -p participant-app -p event-relay -p webhook-sender -p clock && cargo lambda build --profile lambda --$(ARCH) -p picture-app && cargo lambda build --profile lambda --$(ARCH) -p evidence-app && cargo lambda build --profile lambda --$(ARCH) -p paper-api
# Those whose figures `make bench` tells: all, and a bare one.
BUILD_BENCHED = $(BUILD_FUNCTIONS) -p hello
CHECK_TOOLS = PATH="$$(scripts/tools check):$$PATH"
LAMBDA_TOOLS = PATH="$$(scripts/tools lambda):$$PATH"

.PHONY: help run test test-browser test-aws check bench bench-api bench-start generate watch build

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## The whole service on this machine, until Ctrl-C
	cargo run --profile stack -p local -- serve $(ARGS)

test: ## Unit tests, system tests against the local stack, and the browser test where there is a browser
	scripts/test

test-browser: ## The app in Chromium: each page at two widths, light and dark, with an accessibility check
	scripts/test-browser

test-aws: ## The same system tests against AWS's DynamoDB Local and an emulator of SQS, or what AWS_ENDPOINT_URL names
	scripts/test-aws

# The second run of clippy: the stack as `make run` builds it, without the feature `lambda`; and files in a bucket.
check: ## Format, wording, the template, lints, documentation, dependencies
	cargo fmt --all --check
	scripts/check-wording
	scripts/check-template
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
	$(LAMBDA_TOOLS); $(BUILD_BENCHED)
	$(LAMBDA_TOOLS); $(BUILD_BENCHED) --output-format zip --lambda-dir target/lambda-zip
	COUNTERSIGN_FUNCTIONS=target/lambda cargo run --release -p tests --no-default-features --bin bench_start

generate: ## Writes the API description, shared/openapi.json, from the operations
	cargo run -p local --bin generate

watch: ## Functions served by `cargo lambda watch`, rebuilt on every change
	$(LAMBDA_TOOLS); cargo run -p tests --bin watch

build: ## The functions for Lambda: target/lambda/NAME/bootstrap
	$(LAMBDA_TOOLS); $(BUILD_FUNCTIONS)
