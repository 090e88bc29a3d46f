# Task runner: every target is one short command. The build itself is CMake's (CMakePresets.json).
CMAKE ?= cmake
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 300

# Ninja where there is one; a build folder that exists keeps its generator.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)

.PHONY: all deps demo python docs check check-full check-arm check-cuda bench dist deb install format lint fuzz coverage clean help

all: ## build build/cleave (the default)
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build build --parallel $(JOBS) --target cleave_cli

deps: ## install the Debian/Ubuntu packages that a build needs and that are missing
	@scripts/deps --build

demo: deps ## build, then run the demonstration
	@echo "building build/cleave"
	@mkdir -p build
	@$(MAKE) --no-print-directory all >build/demo.log 2>&1 || { cat build/demo.log; exit 1; }
	build/cleave demo

python: deps ## build the Python package, install it into build/python-env/newest and test it there
	@scripts/check-python

docs: ## the documentation as a site, links checked: build/docs/html/index.html
	@scripts/deps --docs
	@scripts/docs

check: ## everything that must pass: tests, install, peers, format, fuzz smoke, sanitizers
	@scripts/check -j $(JOBS)

check-full: ## check with its slow parts: more tests under the sanitizers, clang-tidy
	@scripts/check --full -j $(JOBS)

check-arm: ## the kernels compiled for 64-bit ARM, under an emulator; a part of check
	@scripts/check-arm || [ $$? -eq 77 ]

check-cuda: ## the home cuda on the graphics card of this machine (needs nvcc)
	@scripts/check-cuda

bench: all ## side-by-side runs against peers, into bench/RESULTS.md (about an hour)
	bench/run

dist: all ## the sources of the last commit as build/dist/cleave-VERSION.tar.gz
	@scripts/dist

deb: all ## Debian packages of them, checked by lintian
	@scripts/deps --deb
	@scripts/dist --deb

install: all ## install to PREFIX (default /usr/local); DESTDIR is honored
	$(CMAKE) --install build --prefix $(PREFIX)

format: ## rewrite the sources with clang-format
	@scripts/lint --fix-format

lint: ## clang-format and clang-tidy, warnings are errors
	@scripts/lint -j $(JOBS)

fuzz: ## each fuzz target for FUZZ_SECONDS (300)
	@scripts/fuzz -j $(JOBS) -s $(FUZZ_SECONDS)

coverage: ## lines of src/ and cli/ that the tests execute
	@scripts/coverage -j $(JOBS)

clean: ## remove all build folders
	rm -rf build build-*/

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12
