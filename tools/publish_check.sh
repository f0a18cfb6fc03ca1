#!/usr/bin/env bash
# Whether the collection can be published: tools/publish_check.sh --help
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
root=$PWD

usage() {
  cat <<'TEXT'
tools/publish_check.sh           every check; ends with 1 when any of them finds something
tools/publish_check.sh CHECK...  only these: changelog docs importer oldest newest
  changelog  antsibull-changelog lint
  docs       antsibull-docs lint-collection-docs on the installed collection
  importer   galaxy-importer on the built collection
  oldest     ansible-test sanity with the oldest ansible-core that meta/runtime.yml promises
  newest     ansible-test sanity with the newest ansible-core; its modules are also imported by Python 3.9 when present
Keeps its environments in .cache/publish and installs them from pip's ordinary registry. The newest ansible-core needs
a newer Python than the collection does: the newest of the path (or of pyenv) is taken, or that of NEWEST_PYTHON.
TEXT
}

checks=()
for argument in "$@"; do
  case $argument in
    --help | -h) usage; exit 0 ;;
    changelog | docs | importer | oldest | newest) checks+=("$argument") ;;
    *) echo "publish_check: unknown argument '$argument'; --help lists all" >&2; exit 2 ;;
  esac
done
[ ${#checks[@]} -gt 0 ] || checks=(changelog docs importer oldest newest)

work=$root/.cache/publish
mkdir -p "$work"
collections=$work/collections
installed=$collections/ansible_collections/streamops/kafka

# environment NAME PYTHON PACKAGE...: a virtual environment with these packages, made once.
environment() {
  local path=$work/$1 python=$2
  shift 2
  if [ "$(cat "$path/whole" 2> /dev/null)" != "$python $*" ]; then
    "$python" -m venv --clear "$path"
    "$path/bin/python" -m pip install --disable-pip-version-check --quiet "$@"
    echo "$python $*" > "$path/whole"
  fi
}

# The newest Python that can be had; the newest ansible-core often wants it.
newest_python() {
  local minor candidate
  for minor in 14 13 12 11; do
    for candidate in "${NEWEST_PYTHON:-}" "$(command -v "python3.$minor" || true)" "$HOME"/.pyenv/versions/3."$minor".*/bin/python; do
      if [ -n "$candidate" ] && "$candidate" -c 'import venv, ensurepip' 2> /dev/null; then
        echo "$candidate"
        return
      fi
    done
  done
  echo "publish_check: no Python with venv found" >&2
  return 1
}

# Builds the collection and installs it, with its dependencies, below $collections; ansible-test wants a git repository.
install_collection() {
  local site
  rm -rf "$collections" "$work/built"
  .venv/bin/ansible-galaxy collection build --output-path "$work/built" > /dev/null
  (cd "$work" && "$root/.venv/bin/ansible-galaxy" collection install --force --no-deps -p "$collections" "$work"/built/*.tar.gz > /dev/null)
  # Dependencies as the Python package ansible carries them: no Galaxy server is asked.
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir -p "$collections/ansible_collections/community"
  cp -r "$site"/ansible_collections/community/{crypto,general} "$collections/ansible_collections/community/"
  git -C "$installed" init --quiet
  # Where ansible-test keeps its own environments; else it would judge them too.
  echo /tests/output/ >> "$installed/.git/info/exclude"
  git -C "$installed" add --all
}

# bootstrap_pip ENVIRONMENT: ansible-test fetches a script that installs pip from a server of its own; a script of the
# same name in its cache does it with what Python brings, so that one registry is enough.
bootstrap_pip() {
  local version
  version=$("$work/$1/bin/python" - <<'PYTHON'
import json, pathlib, re
import ansible_test
for file in pathlib.Path(ansible_test.__path__[0]).rglob("python_requirements.py"):
    print(re.search(r"pip='([\d.]+)'", file.read_text())[1])
PYTHON
)
  mkdir -p "$work/home/.ansible/test/cache"
  cat > "$work/home/.ansible/test/cache/get_pip_${version//./_}.py" <<'PYTHON'
import subprocess
import sys

# In a process of its own: it takes pip's settings out of the environment.
subprocess.check_call([sys.executable, "-m", "ensurepip"])
wanted = [one for one in sys.argv[1:] if one not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *wanted]))
PYTHON
}

# sanity NAME PYTHON REQUIREMENT: ansible-test sanity with this ansible-core.
sanity() {
  local minor own old
  environment "$1" "$2" "$3"
  bootstrap_pip "$1"
  minor=$("$work/$1/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  # A home of its own for its environments; pip's configuration stays that of the user.
  own=(env "HOME=$work/home" "XDG_CONFIG_HOME=${XDG_CONFIG_HOME:-$HOME/.config}" "PATH=$work/$1/bin:$PATH" ansible-test)
  cd "$installed"
  "${own[@]}" --version
  "${own[@]}" sanity --venv --python "$minor"
  [ "$1" = newest ] || return 0
  old=$(command -v python3.9 || true)
  if [ -n "$old" ] && "$old" -c 'import venv' 2> /dev/null; then
    "${own[@]}" sanity --venv --python 3.9 --test import
    "${own[@]}" sanity --venv --python 3.9 --test compile
  else
    echo "LEFT OUT: import with Python 3.9, the oldest of managed nodes; this machine has none"
  fi
}

check_changelog() {
  .venv/bin/antsibull-changelog lint
}

check_docs() {
  environment tools "$root/.venv/bin/python" galaxy-importer antsibull-docs
  cd "$installed"
  env "PATH=$work/tools/bin:$PATH" "ANSIBLE_COLLECTIONS_PATH=$collections" \
    antsibull-docs lint-collection-docs --plugin-docs .
}

# The importer ends with 0 whatever it finds, so its log is read. It runs ansible-lint with a time limit of its own;
# ./test lint runs it already.
check_importer() {
  local log=$work/importer.log
  environment tools "$root/.venv/bin/python" galaxy-importer antsibull-docs
  printf '[galaxy-importer]\nRUN_ANSIBLE_LINT = False\nRUN_FLAKE8 = False\n' > "$work/importer.cfg"
  cd "$work"
  env "PATH=$work/tools/bin:$PATH" "GALAXY_IMPORTER_CONFIG=$work/importer.cfg" \
    python -m galaxy_importer.main "$work"/built/*.tar.gz > "$log" 2>&1 || { tail -n 20 "$log"; return 1; }
  grep -q 'Importer processing completed successfully' "$log" || { tail -n 20 "$log"; return 1; }
  ! grep -E '^(ERROR|CRITICAL|WARNING)' "$log" | cut -c1-1000
}

check_oldest() {
  local version
  version=$(sed -n 's/^requires_ansible: ">=\(.*\)"/\1/p' meta/runtime.yml)
  sanity oldest "$root/.venv/bin/python" "ansible-core==$version"
}

check_newest() {
  sanity newest "$(newest_python)" ansible-core
}

[ "${checks[*]}" = changelog ] || install_collection
failed=()
for check in "${checks[@]}"; do
  printf '\n[%4ds] publish: %s\n' "$SECONDS" "$check"
  # A subshell of its own: `set -e` holds inside, which it would not in a condition.
  set +e
  (set -e; "check_$check")
  answer=$?
  set -e
  [ "$answer" = 0 ] || failed+=("$check")
done
echo
if [ ${#failed[@]} -gt 0 ]; then
  echo "publish: failed: ${failed[*]}"
  exit 1
fi
echo "publish: ${#checks[@]} passed: ${checks[*]}"
