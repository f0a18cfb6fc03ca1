#!/usr/bin/env bash
# Has axe.min.js, which finds what keeps people from using a page, in .cache/axe-core-VERSION, out of the npm package.
# Only tests load it; nothing of it is shipped. Prints the path of the file.
# Exit status: 0 it is there, 3 it cannot be had here (the reason is on standard error).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

version=4.14.1
digest=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
place=.cache/axe-core-$version
if [ ! -f "$place/axe.min.js" ]; then
  if ! command -v npm > /dev/null; then
    echo "axe_core: axe-core $version comes from npm, which is not here. Install it (on Debian: npm)" >&2
    exit 3
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "axe-core@$version" > /dev/null) \
    || { echo "axe_core: npm cannot fetch axe-core $version" >&2; exit 3; }
  echo "$digest  $work/axe-core-$version.tgz" | sha256sum --check --quiet >&2
  tar -xzf "$work/axe-core-$version.tgz" -C "$work" package/axe.min.js
  mkdir -p "$place"
  # Tests run at once: the file is whole or is not there.
  cp "$work/package/axe.min.js" "$place/axe.min.js.$$"
  mv "$place/axe.min.js.$$" "$place/axe.min.js"
fi
echo "$PWD/$place/axe.min.js"
