# Files captured by rules other than git's own: too large, tracked although ignored, asked for by
# name, or in another repository.
# shellcheck shell=bash

declare -A LEFT_OUT=() FORBIDDEN=()

# leave_forbidden: leaves out symlinks named .gitmodules. Git takes one into an index where a file
# was, and then refuses to write it. So they are not part of a capture, and no restore touches
# them.
leave_forbidden() {
  local path ignored
  printf '%s\0' "${!FORBIDDEN[@]}" | git update-index --force-remove -z --stdin 2>>"$OUT.err" || return
  for path in "${!FORBIDDEN[@]}"; do
    ignored=0
    git check-ignore -q --no-index -- "./$path" 2>>"$OUT.err" || ignored=$?
    [ $ignored -le 1 ] || return $ignored
    [ $ignored = 1 ] || continue
    pattern_for "$path"
    printf '%s\n' "$PATTERN" >>"$SHADOW/info/exclude" && emit skip-path "$path" && emit skip-reason "$FORBIDDEN_WHY" || return
  done
}
FORBIDDEN_WHY="git keeps nothing of this name: rename it, if it is to be captured"

# leave_special: reports that no capture holds named pipes, sockets and devices, except those that are
# ignored. Git passes over them. One in the place of a captured file is a failure (hear).
leave_special() {
  local path special=()
  local -A known=()
  mapfile -d '' -t special <"$OUT.special" || return
  special=("${special[@]#*/./}")
  printf '%s\0' "${special[@]}" | xargs -0 git --literal-pathspecs ls-files -z -c -- >"$OUT.special" 2>>"$OUT.err" || return
  printf './%s\0' "${special[@]}" | perhaps git check-ignore -z --no-index --stdin >>"$OUT.special" 2>>"$OUT.err" || return
  while IFS= read -r -d '' path; do known[/${path#./}]=1; done <"$OUT.special"
  for path in "${special[@]}"; do
    [ -n "${known[/$path]-}" ] || in_held "$path" || { emit skip-path "$path" && emit skip-reason "a named pipe, a socket or a device: git keeps nothing of it"; } || return
  done
}

# leave_out_big: leaves untracked files over the cap out of the capture until they shrink, and
# reports them.
leave_out_big() {
  local entry path
  local -A tracked=()
  printf '%s\0' "${BIG[@]#*/}" | xargs -0 git --literal-pathspecs ls-files -z -c -- >"$OUT.big" || return
  while IFS= read -r -d '' path; do tracked[$path]=1; done <"$OUT.big"
  local -A host=()
  if [ -f "$SHADOW/host-index" ]; then
    printf '%s\0' "${BIG[@]#*/}" | GIT_INDEX_FILE=$SHADOW/host-index xargs -0 git --literal-pathspecs ls-files -z -c -- >"$OUT.big" || return
    while IFS= read -r -d '' path; do host[$path]=1; done <"$OUT.big"
  fi
  for entry in "${BIG[@]}"; do [ -n "${host[${entry#*/}]-}" ] || printf './%s\0' "${entry#*/}" || return; done >"$OUT.big" || return
  [ -s "$OUT.big" ] || return 0
  perhaps git check-ignore -z --no-index --stdin <"$OUT.big" >"$OUT.big-ignored" 2>>"$OUT.err" || return
  local -A ignored=()
  while IFS= read -r -d '' path; do ignored[${path#./}]=1; done <"$OUT.big-ignored"
  for entry in "${BIG[@]}"; do
    path=${entry#*/}
    [ -z "${host[$path]-}" ] || continue
    # A captured file that grew past the cap, or is ignored now, leaves the index, so that no
    # stale copy looks current.
    [ -z "${tracked[$path]-}" ] || printf '%s\0' "$path" >&3 || return
    [ -z "${ignored[$path]-}" ] || continue
    pattern_for "$path"
    printf '%s\n' "$PATTERN" >&4 && left_out "$path" "${entry%%/*}" || return
  done 3>"$OUT.big-tracked" 4>>"$SHADOW/info/exclude"
  [ ! -s "$OUT.big-tracked" ] || git update-index --force-remove -z --stdin <"$OUT.big-tracked"
}

left_out() {
  LEFT_OUT[$1]=1
  printf '%s\0' "$1" >>"$OUT.left-out" || return
  emit skip-path "$1" && emit skip-reason "larger than maxFileBytes ($MAX_BYTES)" && emit skip-size "$2"
}

# add_ignored: drops files that the present rules ignore, even if they were captured before. A secret that the
# user has ignored since must not reach the store again (C2). Exceptions are files that the host tracks
# although a rule ignores them, and files that the session asks for by name. Git is asked only when rules or
# the host's index changed. (A list of an older release has no end mark, and may name our own files.)
add_ignored() {
  if [ -n "$HOST_INDEX_NEW$RULES_NEW" ] || [ ! -f "$SHADOW/tracked-ignored.list" ]; then outlaw || return; fi
  if [ -e "$SHADOW/tracked-ignored.own" ]; then
    emit skip-path .agent-shadow && emit skip-reason "Walkback's own files, which git was told to track: take them out with git rm -r --cached .agent-shadow" || return
  fi
  if [ -s "$SHADOW/tracked-ignored.list" ]; then
    existing <"$SHADOW/tracked-ignored.list" | git update-index --add --replace -z --stdin 2>>"$OUT.err" || return
  fi
  [ ${#INCLUDE[@]} -eq 0 ] || add_included || return
  if [ ${#EXCLUDE[@]} -gt 0 ]; then
    printf '%s\n' "${EXCLUDE[@]}" >"$SHADOW/info/exclude-session" || return
    git ls-files -z -c -i --exclude-from="$SHADOW/info/exclude-session" | git update-index --force-remove -z --stdin 2>>"$OUT.err" || return
  fi
  [ ${#LEFT_OUT[@]} -eq 0 ] || leave_taken_back
}

# leave_taken_back: a rule with `!` takes back the pattern that leaves out a file for its size. It is left out all
# the same, and so is its mode.
leave_taken_back() {
  local entry modes=()
  printf '%s\0' "${!LEFT_OUT[@]}" | git update-index --force-remove -z --stdin 2>>"$OUT.err" || return
  while IFS= read -r -d '' entry; do [ -n "${LEFT_OUT[${entry#*/}]-}" ] || modes+=("$entry"); done <"$OUT.modes"
  list_into "$OUT.modes" "${modes[@]}"
}

# outlaw: drops what is ignored now, and lists which of these files the host tracks.
outlaw() {
  git ls-files -z -c -i --exclude-standard >"$OUT.outlawed" 2>>"$OUT.err" || return
  if [ -s "$OUT.outlawed" ]; then
    git update-index --force-remove -z --stdin <"$OUT.outlawed" 2>>"$OUT.err" || return
    # Remembered: see outlawed_below.
    [ ! -f "$SHADOW/outlawed" ] || cat -- "$SHADOW/outlawed" >>"$OUT.outlawed" || return
    sort -zu -o "$SHADOW/outlawed" "$OUT.outlawed" || return
  fi
  if [ -f "$SHADOW/host-index" ]; then
    GIT_INDEX_FILE=$SHADOW/host-index git ls-files -z -c -i --exclude-standard >"$SHADOW/tracked-ignored.part" 2>>"$OUT.err" || return
  else
    : >"$SHADOW/tracked-ignored.part" || return
  fi
  [ ! -s "$SHADOW/tracked-ignored.part" ] || leave_own || return
  mv -f -- "$SHADOW/tracked-ignored.part" "$SHADOW/tracked-ignored.list"
}

# leave_own: our own files are in no capture, even when git was told to track them (git add -f .). A note says
# that it was.
leave_own() {
  local path own='' paths=()
  while IFS= read -r -d '' path; do
    if [[ /$path == */.agent-shadow/* ]]; then own=$path; else paths+=("$path"); fi
  done <"$SHADOW/tracked-ignored.part"
  if [ -z "$own" ]; then
    rm -f -- "$SHADOW/tracked-ignored.own"
  else
    list_into "$SHADOW/tracked-ignored.part" "${paths[@]}" && : >"$SHADOW/tracked-ignored.own"
  fi
}

# add_included: adds the ignored files that the session asks for by name. Those over the cap are
# left out and reported, as elsewhere. The sizes are read here, because the walk skips large
# ignored directories.
add_included() {
  local path size status=0
  local -A big=()
  git --glob-pathspecs ls-files -z -o -- "${INCLUDE[@]}" 2>>"$OUT.err" | perhaps grep -zv '^\.agent-shadow/' | existing >"$OUT.included" || return
  [ -s "$OUT.included" ] || return 0
  sed -z 's#^#./#' "$OUT.included" | xargs -0 sh -c 'exec find "$@" -maxdepth 0 -type f -size +'"$MAX_BYTES"'c -printf "%s\0%p\0"' find >"$OUT.big" 2>"$OUT.sizes" || status=$?
  # 123: find complained about a file that has gone meanwhile.
  [ $status != 123 ] || status=1
  walked $status "$OUT.sizes" || return
  while IFS= read -r -d '' size && IFS= read -r -d '' path; do
    path=${path#./}
    big[$path]=1
    [ -n "${LEFT_OUT[$path]-}" ] || left_out "$path" "$size" || return
  done <"$OUT.big"
  while IFS= read -r -d '' path; do
    [ -n "${big[$path]-}" ] || printf '%s\0' "$path"
  done <"$OUT.included" | git update-index --add --replace -z --stdin 2>>"$OUT.err"
}

# leave_nested: files below a repository inside this one, or in a git directory, belong to that
# repository, even those captured before it existed.
leave_nested() {
  local inside=("${NESTED[@]/%//}" "${HELD[@]/%//}")
  [ ${#inside[@]} -gt 0 ] || return 0
  git --literal-pathspecs ls-files -z -c -- "${inside[@]}" >"$OUT.nested" 2>>"$OUT.err" || return
  [ ! -s "$OUT.nested" ] || git update-index --force-remove -z --stdin <"$OUT.nested" 2>>"$OUT.err"
}

# existing: passes on only the paths that are files or symlinks, that git accepts, and that lie neither in a
# git directory nor behind a symlink.
existing() {
  local path
  local -A CLEAR=()
  while IFS= read -r -d '' path; do
    ! rules_above "$path" || { bar "$WAITS" || return; }
    if { [ -L "$path" ] || [ -f "$path" ]; } && [ -z "${FORBIDDEN[$path]-}" ] && ! in_held "$path" && ! symlink_above "$path"; then printf '%s\0' "$path"; fi
  done
}
