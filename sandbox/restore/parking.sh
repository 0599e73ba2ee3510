# Where a repository waits that the target does not have, and how it comes back. Nothing is deleted.
# shellcheck shell=bash

# parking_place PATH: where the .git directories wait that stood at a path and are not of the target: numbered, the newest
# last. None is deleted while the session lives.
parking_place() {
  PARKING=$HOME_DIR/parked-$SESSION/$(printf '%s' "$1" | sha256sum | cut -c1-16)
}

# park_git PATH META: renames .git away, and notes the host states it was captured in, the latest first: they tell it
# from others that stood at this path.
park_git() {
  local dir last=0
  parking_place "$1"
  for dir in "$PARKING"/*; do
    dir=${dir##*/}
    [[ $dir == *[!0-9]* ]] || [ "$dir" -le $last ] || last=$dir
  done
  PARKED=$PARKING/$((last + 1))
  mkdir -p -- "$PARKED" || return 1
  {
    printf '%s\n' "$2"
    [ -z "${GIT_DIR-}" ] || git for-each-ref --format='%(parent)' refs/tags/chkpt 2>/dev/null | tr ' ' '\n'
  } >"$PARKED/metas"
  if [ -e .git ] || [ -L .git ]; then mv -- .git "$PARKED/git"; fi
}

# find_parked PATH META: PARKED is where the repository waits that was captured in this host state; the one parked in it
# goes first, then the newest.
find_parked() {
  local n numbers=()
  parking_place "$1"
  numbers=("$PARKING"/*)
  [ ${#numbers[@]} -gt 0 ] && [ -n "$2" ] || return 1
  mapfile -t numbers < <(printf '%s\n' "${numbers[@]##*/}" | sort -rn)
  for n in "${numbers[@]}"; do
    PARKED=$PARKING/$n
    line_of "$PARKED/metas" && [ "$TEXT" = "$2" ] && return 0
  done
  for n in "${numbers[@]}"; do
    PARKED=$PARKING/$n
    grep -qxF -- "$2" "$PARKED/metas" 2>/dev/null && return 0
  done
  return 1
}

# unpark PATH META: brings back the .git, and the shadow where there is none. A .git that leads nowhere by now stays.
unpark() {
  local home=.agent-shadow/session-$SESSION
  find_parked "$1" "$2" || return 0
  mkdir -p -- "$ROOT/$1" && cd -- "$ROOT/$1" || return 1
  if [ -d "$PARKED/shadow" ] && [ ! -e "$home" ]; then
    shadow_home "$PWD/.agent-shadow" && mv -- "$PARKED/shadow" "$home" || return 1
  fi
  if [ -e "$PARKED/git" ] || [ -L "$PARKED/git" ]; then
    local from=$PARKED
    if [ -e .git ] || [ -L .git ]; then park_git "$1" '' || return 1; fi
    mv -- "$from/git" .git || return 1
    if find_host; then
      CREATED=1
      rm -rf -- "$from"
    else
      HG='' HC=''
      mv -- .git "$from/git"
    fi
  fi
}

# park PATH META: takes a repository that the target does not have out of the way. Nothing is deleted: its .git and its
# shadow are renamed to where unpark finds them again.
park() {
  local path=$1
  park_git "$path" "$2" || return 1
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  if [ "$path" != . ]; then
    mv -- ".agent-shadow/session-$SESSION" "$PARKED/shadow" || return 1
    rm -f -- .agent-shadow/.gitignore
    rmdir -- .agent-shadow 2>/dev/null || printf '*\n' >.agent-shadow/.gitignore
    cd -- "$ROOT" || return 1
    rmdir -p -- "$path" 2>/dev/null || :
  fi
}
