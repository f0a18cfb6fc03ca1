#!/usr/bin/env bash
# Has prometheus, prometheus-alertmanager, promtool and amtool in .cache/prometheus, taken out of Debian's packages:
# installing these would start services. Debian's Alertmanager does not start without its templates below /usr/share
# (seen with 0.25.0), so they are put there where they are missing, which needs root.
# Exit status: 0 they are there, 3 they cannot be had here (the reason is on standard error).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

place=.cache/prometheus
tools=(prometheus prometheus-alertmanager promtool amtool)
templates=/usr/share/prometheus/alertmanager
missing=''
for tool in "${tools[@]}"; do [ -x "$place/usr/bin/$tool" ] || missing=yes; done
[ -f "$templates/default.tmpl" ] || missing=yes
[ -n "$missing" ] || exit 0
if [ ! -f "$templates/default.tmpl" ] && [ "$(id -u)" != 0 ]; then
  echo "prometheus_tools: Alertmanager needs $templates; install it: apt-get install prometheus-alertmanager" >&2
  exit 3
fi
if ! command -v apt-get > /dev/null; then
  echo "prometheus_tools: ${tools[*]} come from Debian's packages, and this system has no apt-get" >&2
  exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt drops its rights to fetch a package, so its own user must reach the directory.
chmod 755 "$work"
(cd "$work" && { apt-get download -qq prometheus prometheus-alertmanager 2> /dev/null \
  || { apt-get update -qq && apt-get download -qq prometheus prometheus-alertmanager; }; }) > /dev/null \
  || { echo "prometheus_tools: apt-get cannot fetch prometheus and prometheus-alertmanager" >&2; exit 3; }
for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/tree"; done
mkdir -p "$place/usr/bin"
cp --remove-destination "${tools[@]/#/$work/tree/usr/bin/}" "$place/usr/bin/"
if [ ! -f "$templates/default.tmpl" ]; then
  mkdir -p "$templates"
  cp "$work/tree$templates/"*.tmpl "$templates/"
fi
