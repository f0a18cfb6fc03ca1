#!/usr/bin/env bash
# Toxiproxy's server, which plays a long line between two networks in the scenario `mirror`: built once from its module,
# statically linked, so that it can be copied into any container. Prints where it is.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh

# Its module asks for Go 1.17; Debian 12 has 1.19.
version=v2.5.0
program=${XDG_CACHE_HOME:-$HOME/.cache}/streamops-kafka/toxiproxy-$version

if [ ! -x "$program" ]; then
  want_system_package go golang-go >&2
  command -v go > /dev/null || {
    echo "toxiproxy: needs Go 1.17 or newer to be built; on Debian: apt-get install golang-go. Nothing was changed." >&2
    exit 2
  }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  echo "Building toxiproxy $version" >&2
  GOBIN=$work CGO_ENABLED=0 go install -trimpath -ldflags='-s -w' "github.com/Shopify/toxiproxy/v2/cmd/server@$version"
  mkdir -p "$(dirname "$program")"
  mv "$work/server" "$program"
fi
echo "$program"
