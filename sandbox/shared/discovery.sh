# Finds the repositories below the projects root.
# shellcheck shell=bash

# in_dependency_folder PATH: whether a part of the path is a folder for other people's checkouts.
in_dependency_folder() {
  local name
  for name in "${DEPENDENCY_DIRS[@]}"; do [[ /$1/ != */"$name"/* ]] || return 0; done
  return 1
}

# find_roots ERRORS START...: finds every repository root below the starting points, into ROOTS. One whose .git is a link
# is none: the link may lead anywhere. WALK_DEPTH limits the depth below the starting points. KNOWN_ROOTS are tests of
# find for directories to skip.
find_roots() {
  local errors=$1 names=() name found
  shift
  for name in "${DEPENDENCY_DIRS[@]}"; do names+=(-o -name "$name"); done
  find "$@" -maxdepth "$WALK_DEPTH" -type d \( "${names[@]:1}" "${KNOWN_ROOTS[@]}" \) -prune -o -name .git -prune \( -type d -o -type f \) -print0 >"$errors.found" 2>"$errors"
  walked $? "$errors" || return
  while IFS= read -r -d '' found; do
    found=${found#./}
    found=${found%.git}
    found=${found%/}
    ROOTS+=("${found:-.}")
  done <"$errors.found"
}

# glob_quote PATH: TEXT becomes a pattern of find that matches only this path.
glob_quote() {
  TEXT=${1//\\/\\\\}
  TEXT=${TEXT//\*/\\*}
  TEXT=${TEXT//\?/\\?}
  TEXT=${TEXT//\[/\\[}
}

# named LINE: TEXT becomes the path that find complains about. find writes unusual bytes as \NNN, and a
# newline as \n.
named() {
  TEXT=${1#find: \'}
  TEXT=${TEXT%\': *}
  TEXT=${TEXT#./}
  # shellcheck disable=SC2059
  printf -v TEXT -- "${TEXT//%/%%}"
}

# discover ERRORS: sets ROOTS, every repository root below $ROOT to MAX_DEPTH; `.` is the projects
# root itself. The inside of a repository is walked only when its capture met an unknown .git
# (`full`), or when it was not walked before.
discover() {
  local errors=$1 how=${2-} known=$HOME_DIR/nested-$SESSION entry found others=()
  ROOTS=() KNOWN_ROOTS=()
  finish_parking || return
  if [ "$how" = full ] || [ ! -f "$known" ]; then
    WALK_DEPTH=$((MAX_DEPTH + 1)) find_roots "$errors" . || return
    for found in "${ROOTS[@]}"; do printf '%s\0' "$found"; done >"$known"
    return
  fi
  if [ -e .git ] && [ ! -L .git ]; then
    ROOTS=(.)
  else
    for entry in *; do
      [ -d "$entry" ] && [ ! -L "$entry" ] || continue
      if [ ! -L "$entry/.git" ] && { [ -d "$entry/.git" ] || [ -f "$entry/.git" ]; }; then
        ROOTS+=("$entry")
      elif ! in_dependency_folder "$entry"; then
        others+=("./$entry")
      fi
    done
    [ ${#others[@]} -eq 0 ] || look_beside "${others[@]}" || return
  fi
  local -A seen=()
  for found in "${ROOTS[@]}"; do seen[$found]=1; done
  while IFS= read -r -d '' found; do
    if [ -z "${seen[$found]-}" ] && [ -e "$found/.git" ] && ! symlink_above "$found/.git" && [ ! -L "$found/.git" ]; then
      ROOTS+=("$found")
    fi
  done <"$known"
}

# finish_parking: cleans up after a process that was killed while it parked a repository by copying it:
# removes what is left of the original, copies that are incomplete, and copies whose repository came back.
# What cannot be deleted stays and does no harm.
finish_parking() {
  local mark place places=("$HOME_DIR/parked-$SESSION"/*/*)
  [ ${#places[@]} -gt 0 ] || return 0
  for mark in "$HOME_DIR/parked-$SESSION"/*/*/leaving; do
    slurp "$mark"
    if [ -n "$TEXT" ] && ! symlink_above "$TEXT/.git" && [ ! -L "$TEXT/.git" ] && [ -d "$TEXT/.git" ] && [ ! -e "$TEXT/.git/HEAD" ]; then
      rm -rf -- "$TEXT/.git" 2>/dev/null || survived $?
    fi
    rm -f -- "$mark" || return
  done
  for place in "${places[@]}"; do [[ ! -f $place/back ]] || rm -rf -- "$place" || survived $?; done
  rm -rf -- "$HOME_DIR/parked-$SESSION"/*/*/{git,shadow}.part || survived $?
}

# look_beside START...: finds roots below directories that are not repositories. Below a known repository, its
# own capture looks. If the rest is so large that this takes a second, the search is less deep for some
# minutes.
look_beside() {
  local found started slow=$HOME_DIR/slow-$SESSION WALK_DEPTH=$MAX_DEPTH
  while IFS= read -r -d '' found; do
    [ ${#KNOWN_ROOTS[@]} -lt 300 ] && [ -e "$found/.git" ] && [ ! -L "$found/.git" ] && [ ! -L "$found" ] || continue
    glob_quote "$found"
    KNOWN_ROOTS+=(-o -path "./$TEXT")
  done <"$known"
  if [ -f "$slow" ] && line_of "$slow" && [ $((NOW - TEXT)) -lt 600 ] && [ "$MAX_DEPTH" -gt 3 ]; then
    WALK_DEPTH=3
  fi
  stopwatch && started=$MICROSECONDS
  find_roots "$errors" "$@" || return
  stopwatch
  if [ $((MICROSECONDS - started)) -gt 1000000 ] && [ "$WALK_DEPTH" -gt 3 ]; then printf '%s\n' "$NOW" >"$slow"; fi
}
