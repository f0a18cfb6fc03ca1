#!/usr/bin/env bash
# The image that the Molecule scenarios start their containers from: made once, and again when its recipe changes.
#
#   tools/base_image.sh [streamops-kafka-base:RELEASE]   RELEASE of Debian: bookworm (12, the default) or trixie (13)
#
# As root on Debian 12 it is made of the packages that this machine's own apt sources give, with the name of the release
# in them (mmdebstrap); elsewhere molecule/Dockerfile builds the same on Debian's image. Needs a Docker engine
# (tools/docker_engine.sh start).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

image=${1:-streamops-kafka-base:bookworm}
release=${image##*:}
# What Kafka runs with there, as plugins/module_utils/_node/system.py names it for that release.
case $release in
  bookworm) java=openjdk-17-jre-headless ;;
  trixie) java=openjdk-21-jre-headless ;;
  *) echo "base_image: no release of Debian is named '$release'; there are bookworm and trixie" >&2; exit 2 ;;
esac
label=org.streamops.recipe
recipe=$(cat molecule/base_packages.txt molecule/Dockerfile tools/base_image.sh | sha256sum | cut -c 1-16)

if [ "$(docker image inspect -f "{{ index .Config.Labels \"$label\" }}" "$image" 2> /dev/null)" = "$recipe" ]; then
  echo "Image $image is there"
  exit 0
fi

# The apt sources of this machine when it is a Debian 12; nothing when it is not.
sources() {
  # shellcheck source=/dev/null
  [ "$(. /etc/os-release && echo "$VERSION_CODENAME")" = bookworm ] || return 0
  ls /etc/apt/sources.list.d/debian.sources 2> /dev/null || { [ ! -s /etc/apt/sources.list ] || echo /etc/apt/sources.list; }
}

if [ "$(id -u)" = 0 ] && [ -n "$(sources)" ]; then
  if ! command -v mmdebstrap > /dev/null; then
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap > /dev/null
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  echo "Making $image from Debian's packages (under a minute)"
  # The words of a file of sources that name its release: bookworm, bookworm-updates, bookworm-security.
  sed -E "s/(^|[[:space:]])bookworm(-[a-z]+)?/\1$release\2/g" "$(sources)" > "$work/$(basename "$(sources)")"
  # Sources that stand still (a snapshot, a mirror of one's own) are older than their own date of expiry allows.
  mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="$(paste -sd, molecule/base_packages.txt),$java" "$release" "$work/base.tar" "$work/$(basename "$(sources)")"
  docker import --change 'CMD ["/lib/systemd/systemd"]' \
    --change "LABEL $label=$recipe" "$work/base.tar" "$image" > /dev/null
else
  echo "Building $image from molecule/Dockerfile"
  docker build --quiet --label "$label=$recipe" --build-arg "RELEASE=$release" --build-arg "JAVA=$java" \
    --tag "$image" molecule > /dev/null
fi
