# Git directories that lie as plain files in the working tree of another repository, or of their own
# (`git init --separate-git-dir`, worktrees of a bare repository). They belong to the repository that
# uses them: its host state is captured from them, and no restore writes, moves or deletes their files.
# shellcheck shell=bash

HELD_DIRS=() HELD_BY=() HELD=() HELD_FOR=() HELD_THEN=()

# find_held: HELD_DIRS becomes the git directories of ROOTS that lie in a working tree, relative to the
# projects root, and HELD_BY the repositories that use them.
find_held() {
  local root dir other
  HELD_DIRS=() HELD_BY=()
  for root in "${ROOTS[@]}"; do
    # Most repositories have their git directory in .git, which no capture looks into.
    [ ! -L "$root/.git" ] && { [ -f "$root/.git" ] || [ -f "$root/.git/commondir" ]; } && cd -- "$root" || continue
    if locate_host; then
      for dir in "$HC" "$HG"; do
        [[ $dir == "$ROOT"/* ]] || continue
        dir=${dir#"$ROOT"/}
        [[ /$dir/ != */.git/* && /$dir/ != */.agent-shadow/* ]] || continue
        for other in "${HELD_DIRS[@]}"; do [[ $dir/ != "$other"/* ]] || continue 2; done
        HELD_DIRS+=("$dir") HELD_BY+=("$root")
      done
    fi
    cd -- "$ROOT" || return
  done
  HG='' HC=''
}

# nested_below PATH: sets NESTED, the roots strictly inside this one, and INNER, the roots that
# the target of a restore has there. Files below them belong to them. Both are relative to PATH.
nested_below() {
  roots_below "$1" "${ROOTS[@]}"
  NESTED=("${WITHIN[@]}")
  roots_below "$1" "${TARGET_ROOTS[@]}"
  INNER=("${WITHIN[@]}")
  held_below "$1"
}

# roots_below PATH ROOT...: WITHIN becomes those of the roots that lie strictly inside PATH, relative to it.
# Most repositories have none inside, and there may be hundreds of roots, so all are checked in one step. No
# path has `//` in it.
roots_below() {
  local root all
  WITHIN=()
  printf -v all '//%s' "${@:2}"
  if [ "$1" = . ]; then
    for root in "${@:2}"; do [ "$root" = . ] || WITHIN+=("$root"); done
  elif [[ $all == *"//$1/"[!/]* ]]; then
    for root in "${@:2}"; do [[ $root != "$1"/* ]] || WITHIN+=("${root#"$1"/}"); done
  fi
}

# held_below PATH: HELD becomes the held git directories strictly inside this repository but not in a
# repository inside it, relative to PATH, and those that the target of a restore left out (HELD_THEN).
# HELD_FOR says which repository uses each.
held_below() {
  local i dir inner below=''
  [ "$1" = . ] || below=$1/
  HELD=() HELD_FOR=()
  for i in "${!HELD_DIRS[@]}"; do
    dir=${HELD_DIRS[i]}
    [[ $dir == "$below"?* ]] || continue
    dir=${dir#"$below"}
    for inner in "${NESTED[@]}"; do [[ $dir/ != "$inner"/* ]] || continue 2; done
    HELD+=("$dir") HELD_FOR+=("${HELD_BY[i]}")
  done
  HELD+=("${HELD_THEN[@]}")
}

# in_held PATH: whether a path of the repository lies in a held git directory.
in_held() {
  local dir
  for dir in "${HELD[@]}"; do [[ $1/ != "$dir"/* ]] || return 0; done
  return 1
}

# leave_held: reports each held directory as left out. The slash at its end tells it from a file in
# `left-out`.
leave_held() {
  local i
  for i in "${!HELD_FOR[@]}"; do
    printf '%s/\0' "${HELD[i]}" >>"$OUT.left-out" || return
    emit skip-path "${HELD[i]}" && emit skip-reason "the git directory of the repository ${HELD_FOR[i]}"
  done
}
