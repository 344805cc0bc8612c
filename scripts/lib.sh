# Functions of the scripts in this folder. Each does nothing where there is nothing to do.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

build_packages=(g++ cmake ninja-build antlr4 libantlr4-runtime-dev nlohmann-json3-dev libcli11-dev libspdlog-dev
  libmpfr-dev doctest-dev pkg-config python3 libzip-dev libleveldb-dev libsndfile1-dev libhdf5-dev
  libedit-dev libmimalloc-dev)
# With RCNC_TORCH_DIR (the torch folder of a Python installation) Debian's is not needed.
[ -n "${RCNC_TORCH_DIR:-}" ] || build_packages+=(libtorch-dev libopenblas0-openmp)

# install_packages PACKAGE...: those that Debian does not have yet; as root only.
install_packages() {
  command -v dpkg-query >/dev/null || return 0
  local installed package missing=()  # dpkg also lists `not-installed` ones: the line has to begin with the word
  installed=$'\n'$(dpkg-query -W -f '${db:Status-Status}:${Package}:\n' "$@" 2>/dev/null || true)
  for package; do
    [[ $installed == *$'\n'"installed:$package:"* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID)); then
    echo "These packages are missing; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "Installing ${missing[*]}" >&2
  {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
  } >&2
}

# How many compilers at a time: one of libtorch's sources takes up to 2 GiB.
jobs() {
  local by_memory
  by_memory=$(awk '/^MemAvailable:/ { print int($2 / (2 * 1024 * 1024)) }' /proc/meminfo)
  printf '%s\n' "$(nproc)" $((by_memory > 1 ? by_memory : 1)) | sort -n | head -1
}

# build_targets TARGET...: configures where that is due and builds.
build_targets() {
  local settings="RCNC_TORCH_DIR=${RCNC_TORCH_DIR:-}"
  {
    if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/.settings" 2>/dev/null)" != "$settings" ]; then
      cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-D$settings"
      echo "$settings" >"$build/.settings"
    fi
    cmake --build "$build" --parallel "$(jobs)" --target "$@"
  } >&2
}

# RETURNN and TensorFlow in a virtual environment of Debian's Python.
make_venv() {
  local venv=$build/venv wanted=$root/tests/requirements.txt
  if [ -x "$venv/bin/python" ] && cmp -s "$wanted" "$venv/requirements.txt"; then return; fi
  {
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$venv/requirements.txt"
  } >&2
}
