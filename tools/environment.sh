# shellcheck shell=bash
# What ./quickstart and ./test share: system packages and the virtual environment. Sourced, never run.

started=$SECONDS

# step TEXT: a headline with the seconds since the start.
step() {
  printf '\n[%3ds] %s\n' $((SECONDS - started)) "$1"
}

# A Python that is new enough and can make virtual environments; empty when there is none. That of the distribution comes
# before the first on the path: one that pyenv compiled without profile-guided optimisation takes 1.5 times as long.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$candidate" > /dev/null \
      && "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      command -v "$candidate"
      return
    fi
  done
}

# The major version of java on the path; 0 when there is none.
java_major() {
  { java -version 2>&1 || true; } | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1 | grep . || echo 0
}

# The package that brings Java here, on Debian and Ubuntu: 17, where the system has it.
java_package() {
  # shellcheck source=/dev/null
  case $(. /etc/os-release 2> /dev/null && echo "${ID:-} ${VERSION_ID:-}") in
    'debian 13') echo openjdk-21-jre-headless ;;
    *) echo openjdk-17-jre-headless ;;
  esac
}

# require_system_packages: finds Python 3.11+, Java 17+ and Maven; as root on Debian or Ubuntu installs what is missing,
# else names it all at once with the command that installs it.
require_system_packages() {
  local missing=() what=()
  [ -n "$(find_python)" ] || { missing+=(python3 python3-venv); what+=("Python 3.11 or newer with venv"); }
  [ "$(java_major)" -ge 17 ] || { missing+=("$(java_package)"); what+=("Java 17 or newer"); }
  command -v mvn > /dev/null || { missing+=(maven); what+=("Maven"); }
  [ ${#missing[@]} -gt 0 ] || return 0
  local install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Missing: $(printf '%s; ' "${what[@]}")installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
    if [ -z "$(find_python)" ] || [ "$(java_major)" -lt 17 ]; then
      echo "Installed ${missing[*]}, but this system has no Python 3.11+ or Java 17+ among its packages." >&2
      return 2
    fi
  else
    {
      echo "This machine lacks:"
      printf '  - %s\n' "${what[@]}"
      echo "Install it with:  sudo sh -c '$install'"
      echo "Nothing was changed."
    } >&2
    return 2
  fi
}

# want_system_package PROGRAM PACKAGE: installs what only some tests need, as root on Debian or Ubuntu; elsewhere those
# tests are skipped by name, and say why.
want_system_package() {
  command -v "$1" > /dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Missing: $1; installing $2"
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" > /dev/null || true
  fi
}

# make_environment FILE...: .venv with exactly the pinned packages of these files; nothing is done when it has them.
# .venv/pinned holds a digest of each file that was installed whole, so an interrupted run starts over.
make_environment() {
  local python file files=() lacking=
  for file in "$@"; do
    files+=(-r "$file")
    grep -qsxF "$(sha256sum "$file")" .venv/pinned || lacking=yes
  done
  [ -n "$lacking" ] || return 0
  python=$(find_python)
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  echo "Installing the pinned Python packages (a few minutes with an empty cache; PySpark is the large one)"
  .venv/bin/python -m pip install --disable-pip-version-check --quiet --use-pep517 "${files[@]}"
  sha256sum "$@" > .venv/pinned
}
