# A host repository where there is none.
# shellcheck shell=bash

# create_host PATH FORMAT: a new host repository. A .git that is there and not usable is put aside.
create_host() {
  local path=$1 format=$2
  mkdir -p -- "$ROOT/$path" && cd -- "$ROOT/$path" || return 1
  if [ -e .git ] || [ -L .git ]; then park_git "$path" '' || return 1; fi
  # Built beside its place and renamed, so that a crash leaves no half repository.
  env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE git init -q --bare --template= ${format:+--object-format="$format"} "$RUN/$INDEX.git" >/dev/null || return 1
  git config --file "$RUN/$INDEX.git/config" core.bare false && git config --file "$RUN/$INDEX.git/config" core.logAllRefUpdates true || return 1
  mv -- "$RUN/$INDEX.git" .git || return 1
  CREATED=1
}

# make_room: what the template of a fresh sandbox brought is put aside, whole, where a repository comes.
make_room() {
  local path entry place=$HOME_DIR/replaced-$SESSION number=0
  for path in "${R_PATH[@]}"; do
    if symlink_above "$path/x" || { [ ! -e "$path" ] && [ ! -L "$path" ]; }; then continue; fi
    for entry in "$path"/*; do
      [ "$entry" != ./.agent-shadow ] || continue
      number=$((number + 1))
      mkdir -p -- "$place/$number" && mv -- "$entry" "$place/$number/" || return 1
    done
  done
}

# promise_objects: lets git fetch on demand what a partial clone had left out, as it did before.
promise_objects() {
  git config --file "$HG/config" core.repositoryformatversion 1 && git config --file "$HG/config" extensions.partialClone origin
}

# make_host PATH FORMAT: a host repository where the working tree has none.
make_host() {
  create_host "$1" "$2" && find_host || return 1
  [ -z "$PARTIAL_FLAG" ] || promise_objects || return 1
}

# furnish_host META: what a new host repository needs beside objects.
furnish_host() {
  part "$1" shallow >"$OUT.shallow"
  [ ! -s "$OUT.shallow" ] || cp -- "$OUT.shallow" "$HG/shallow" || return 1
  [ -n "$(git config --file "$HG/config" --get-regexp '^(remote|branch)\.' 2>/dev/null)" ] || move_remotes "$1"
}
