# Finds the repositories below the projects root.
# shellcheck shell=bash

# in_dependency_folder PATH: whether a part of the path is a folder for other people's checkouts.
in_dependency_folder() {
  local name
  for name in "${DEPENDENCY_DIRS[@]}"; do [[ /$1/ != */"$name"/* ]] || return 0; done
  return 1
}

# find_roots ERRORS START...: finds every repository root below the starting points, into ROOTS.
# Directories that look like a repository but are not examined go to PASSED_OVER, with the reason
# at the same index of PASSED_WHY. These are directories that cannot be read, repositories whose
# .git is a link (which may lead anywhere), and the first directory outside of all repositories
# that is too deep. WALK_DEPTH limits the depth below the starting points. KNOWN_ROOTS are tests
# of find for directories to skip.
find_roots() {
  local errors=$1 deep=() names=() name found why deepest=. depth
  shift
  for ((depth = 0; depth <= MAX_DEPTH; depth++)); do deepest+='/*'; done
  for name in "${DEPENDENCY_DIRS[@]}"; do names+=(-o -name "$name"); done
  find "$@" -maxdepth "$WALK_DEPTH" -type d \( "${names[@]:1}" "${KNOWN_ROOTS[@]}" \) -prune -o -name .git -prune \( -type l -printf 'L%p\0' -o \( -type d -o -type f \) -printf 'R%p\0' \) -o -type d -path "$deepest" ! -empty -printf 'D%p\0' >"$errors.found" 2>"$errors"
  walked $? "$errors" || return
  while IFS= read -r -d '' found; do
    why=${found:0:1} found=${found:1}
    found=${found#./}
    found=${found%.git}
    found=${found%/}
    case $why in
      L) pass_over "${found:-.}" "$LINKED_GIT" ;;
      D) deep+=("$found") ;;
      *) ROOTS+=("${found:-.}") ;;
    esac
  done <"$errors.found"
  too_deep
  while IFS= read -r found; do
    [[ $found != *': No such file or directory' ]] || continue
    named "$found"
    pass_over "$TEXT" "the directory cannot be read: ${found##*\': }"
  done <"$errors"
}

# too_deep: names the first directory that lies deeper than we look and in no repository, because
# it may hold one.
too_deep() {
  local path above
  local -A inside=()
  [ ${#deep[@]} -gt 0 ] || return 0
  for path in "${ROOTS[@]}"; do inside[/$path]=1; done
  [ -z "${inside[/.]-}" ] || return 0
  for path in "${deep[@]}"; do
    above=$path
    while [[ $above == */* ]]; do
      above=${above%/*}
      [ -z "${inside[/$above]-}" ] || continue 2
    done
    pass_over "$path" "more than $MAX_DEPTH levels below the projects root: git repositories in it, and in others as deep, are not looked for"
    return
  done
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

pass_over() { PASSED_OVER+=("$1") PASSED_WHY+=("$2"); }

# passed_over: reports these directories, except those in the global SEEN, which are captured anyway.
passed_over() {
  local i
  for i in "${!PASSED_OVER[@]}"; do
    [ -n "${SEEN[${PASSED_OVER[i]}]-}" ] || { emit skip-path "${PASSED_OVER[i]}" && emit skip-reason "${PASSED_WHY[i]}"; }
  done
}

# discover ERRORS: sets ROOTS, every repository root below $ROOT to MAX_DEPTH; `.` is the projects
# root itself. The inside of a repository is walked only when its capture met an unknown .git
# (`full`), or when it was not walked before.
discover() {
  local errors=$1 how=${2-} known=$HOME_DIR/nested-$SESSION entry found others=()
  ROOTS=() PASSED_OVER=() PASSED_WHY=() KNOWN_ROOTS=()
  finish_parking || return
  if [ "$how" = full ] || [ ! -f "$known" ]; then
    WALK_DEPTH=$((MAX_DEPTH + 1)) find_roots "$errors" . || return
    for found in "${ROOTS[@]}"; do printf '%s\0' "$found"; done >"$known"
    return
  fi
  [ ! -L .git ] || pass_over . "$LINKED_GIT"
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
# minutes, and this is reported.
look_beside() {
  local found started slow=$HOME_DIR/slow-$SESSION WALK_DEPTH=$MAX_DEPTH
  while IFS= read -r -d '' found; do
    [ ${#KNOWN_ROOTS[@]} -lt 300 ] && [ -e "$found/.git" ] && [ ! -L "$found/.git" ] && [ ! -L "$found" ] || continue
    glob_quote "$found"
    KNOWN_ROOTS+=(-o -path "./$TEXT")
  done <"$known"
  if [ -f "$slow" ] && line_of "$slow" && [ $((NOW - TEXT)) -lt 600 ] && [ "$MAX_DEPTH" -gt 3 ]; then
    WALK_DEPTH=3
    pass_over . "there is so much beside the repositories that new ones more than 3 levels down are looked for every ten minutes"
  fi
  stopwatch && started=$MICROSECONDS
  find_roots "$errors" "$@" || return
  stopwatch
  if [ $((MICROSECONDS - started)) -gt 1000000 ] && [ "$WALK_DEPTH" -gt 3 ]; then printf '%s\n' "$NOW" >"$slow"; fi
}
