#!/usr/bin/env bash
# A Docker engine for the Molecule scenarios.
#   tools/docker_engine.sh start    uses the one that answers; else, as root, installs and starts one
#   tools/docker_engine.sh stop     ends the one that `start` started, and no other
# Exit status: 0 done, 3 no engine can be had here (the reason is on standard error).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

state=.run/docker
answers() { docker info > /dev/null 2>&1; }
cannot() {
  echo "docker_engine: $1" >&2
  exit 3
}

install_engine() {
  command -v apt-get > /dev/null || cannot "there is no engine, and only Debian's package docker.io is installed by itself"
  echo "Installing docker.io"
  apt-get update -qq || true
  # A policy of exit 101 keeps the package from starting a service where no init system runs (invoke-rc.d).
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io iptables > /dev/null \
    || cannot "the package docker.io could not be installed"
}

# Waits until the engine answers, 60 s at most; $1 is the file to show when it does not.
wait_for_engine() {
  local tries
  for ((tries = 0; tries < 120; tries++)); do
    if answers; then return 0; fi
    sleep 0.5
  done
  [ ! -f "$1" ] || tail -n 20 "$1" >&2
  cannot "dockerd was started but did not answer within 60 s"
}

start() {
  if command -v docker > /dev/null && answers; then
    echo "A Docker engine runs already"
    return 0
  fi
  [ "$(id -u)" = 0 ] || cannot "no engine answers this user, and only root can start one"
  command -v dockerd > /dev/null || install_engine
  mkdir -p "$state"
  if [ -d /run/systemd/system ]; then
    systemctl start docker.service || cannot "systemd could not start docker.service"
    echo systemd > "$state/started"
    wait_for_engine /dev/null
  else
    # Its own session, so that an interrupt of the tests does not reach it before the containers are gone.
    setsid dockerd --pidfile "$PWD/$state/dockerd.pid" > "$state/dockerd.log" 2>&1 < /dev/null &
    echo dockerd > "$state/started"
    wait_for_engine "$state/dockerd.log"
  fi
  echo "Started a Docker engine"
}

stop() {
  local pid tries
  case $(cat "$state/started" 2> /dev/null || true) in
    systemd) systemctl stop docker.service docker.socket ;;
    dockerd)
      pid=$(cat "$state/dockerd.pid" 2> /dev/null || true)
      # The number may belong to another process by now.
      if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = dockerd ]; then
        kill "$pid"
        for ((tries = 0; tries < 120 && $(test -d "/proc/$pid"; echo $?) == 0; tries++)); do sleep 0.5; done
      fi
      ;;
    *) echo "No Docker engine was started from here"; return 0 ;;
  esac
  rm -f "$state/started"
  echo "Stopped the Docker engine"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
