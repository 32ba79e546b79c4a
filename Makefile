# make build   installs what is needed, builds, installs into .venv
# make demo    the main job: the published demonstration, and a small Llama trained on real text
# make test    all tests
# make lint    formatting, style, layering
PYTHON := .venv/bin/python
BUILD := build

.PHONY: build demo test lint sanitize wheel clean

build:
	bash scripts/setup.sh
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) $(CMAKE_FLAGS)
	cmake --build $(BUILD)
	cmake --install $(BUILD) --component python --prefix "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" > $(BUILD)/install.log
	$(PYTHON) -m compileall -q "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/paddle"

demo: build
	bash examples/demo/run.sh

test: build
	bash scripts/test.sh

lint:
	bash scripts/setup.sh
	bash scripts/lint.sh

sanitize:
	bash scripts/setup.sh
	bash scripts/sanitize.sh

wheel:
	bash scripts/setup.sh
	.venv/bin/pip wheel . --no-deps -w dist

clean:
	rm -rf $(BUILD) build-sanitize dist
