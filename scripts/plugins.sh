#!/usr/bin/env bash
# Builds the plugins of plugins/ as their users do: outside of the tree, against the installed device_api.h alone. The libraries come
# together in build/plugins, where tests look for them. A plugin whose libraries aren't installed here is left out, with a line that says so.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --install build --component device_api --prefix build/plugin-sdk > /dev/null
mkdir -p build/plugins
for folder in plugins/*/; do
  name=$(basename "$folder")
  out=build/plugin-build/$name
  if ! cmake -S "$folder" -B "$out" -DCMAKE_BUILD_TYPE=Release -DPADDLE_INCLUDE_DIR="$PWD/build/plugin-sdk/include/paddle" \
      > "build/plugin-$name.log" 2>&1; then
    echo "plugins: $name is not built: $(grep -m1 -A1 'CMake Error' "build/plugin-$name.log" | tail -n1)"
    continue
  fi
  cmake --build "$out" >> "build/plugin-$name.log" 2>&1 || { cat "build/plugin-$name.log"; exit 1; }
  # renamed into place: a process that has the old one open keeps it
  for library in "$out"/libpaddle_*.so; do
    cp "$library" build/plugins/.new && mv build/plugins/.new "build/plugins/$(basename "$library")"
  done
  echo "plugins: $name"
done
