# What a capture does not have although it may have existed: files that its rules ignored, or that were too
# large for it.
# shellcheck shell=bash

# ignored_by TREE META LIST KEPT: writes the paths of a list that a capture's rules ignore into another list.
# Paths that the capture's index tracks are not ignored; without META this is not checked.
ignored_by() {
  local rules=$OUT.rules path found=()
  rm -rf -- "$rules" "$rules.index" && mkdir -p -- "$rules" || return
  GIT_INDEX_FILE=$rules.index git read-tree "$1" && git ls-tree -r -z --name-only "$1" >"$rules.names" || return
  while IFS= read -r -d '' path; do [[ /$path != */.gitignore ]] || found+=("$path"); done <"$rules.names"
  if [ ${#found[@]} -gt 0 ]; then
    printf '%s\0' "${found[@]}" >"$rules.names" && GIT_INDEX_FILE=$rules.index git checkout-index -f -z --stdin --prefix="$rules/" <"$rules.names" || return
  fi
  [ -z "${HIDING-}" ] || hiding_rules "$rules" "$3" || return
  (cd -- "$rules" && GIT_WORK_TREE=$rules GIT_INDEX_FILE=$rules.index check_ignore "$3" "$4") || return
  [ -s "$4" ] || return 0
  local -A tracked=()
  tracked_by "$2" tracked || return
  [ ${#tracked[@]} -gt 0 ] || return 0
  while IFS= read -r -d '' path; do [ -n "${tracked[$path]-}" ] || printf '%s\0' "$path"; done <"$4" >"$4.untracked" || return
  mv -f -- "$4.untracked" "$4"
}

# hiding_rules RULES LIST: adds rules files in a list that ignore themselves to those of a capture. An example
# is a Python environment, whose .gitignore holds `*`: no capture has it until git is told to track it (git
# add -f). The index in use has their content.
hiding_rules() {
  local path own=() count=-1
  while IFS= read -r -d '' path; do [[ /$path != */.gitignore ]] || own+=("$path"); done <"$2"
  [ ${#own[@]} -gt 0 ] || return 0
  list_into "$OUT.own" "${own[@]}" && git checkout-index -f -z --stdin --prefix="$1/" <"$OUT.own" || return
  # When one of them is removed, another one may no longer be ignored.
  while [ ${#own[@]} -gt 0 ] && [ ${#own[@]} != $count ]; do
    count=${#own[@]}
    (cd -- "$1" && GIT_WORK_TREE=$1 GIT_INDEX_FILE=$1.index check_ignore "$OUT.own" "$OUT.own-ignored") || return
    local -A ignored=()
    while IFS= read -r -d '' path; do ignored[$path]=1; done <"$OUT.own-ignored"
    for path in "${own[@]}"; do [ -n "${ignored[$path]-}" ] || printf '%s\0' "$1/$path" || return; done >"$OUT.own-gone"
    [ ! -s "$OUT.own-gone" ] || xargs -0 rm -f -- <"$OUT.own-gone" || return
    own=("${!ignored[@]}")
    list_into "$OUT.own" "${own[@]}" || return
  done
}

# tracked_by META ARRAY: reads the paths of a capture's index into the array.
tracked_by() {
  local path
  local -n paths_of=$2
  part_id "$1" index || return
  [ -n "$ID" ] || return 0
  git ls-tree -r -z --name-only "$ID" >"$OUT.tracked" || return
  while IFS= read -r -d '' path; do paths_of[$path]=1; done <"$OUT.tracked"
}

# check_ignore LIST KEPT: writes the paths of a list that git's rules ignore into another list. Exit status 1
# means that they ignore nothing, provided git read all rules. A rules file that git's own commands do not
# read either is no loss (harmless).
check_ignore() {
  local line status=0
  sed -z 's#^#./#' -- "$1" >"$2.asked" || return
  git check-ignore --no-index -z --stdin <"$2.asked" >"$2.found" 2>"$2.said" || status=$?
  if [ $status != 0 ]; then
    [ $status = 1 ] && [ ! -s "$2.found" ] || { cat -- "$2.said" >&2 && return $status; }
    while IFS= read -r line; do
      harmless "$line" || { printf '%s\n' "$line" >&2 && return $status; }
    done <"$2.said"
  fi
  sed -z 's#^\./##' -- "$2.found" >"$2"
}

# too_large_then META: marks in the array `stays` the files that a capture left out for their size.
too_large_then() {
  local path
  part "$1" left-out "$OUT.left.then" || return
  while IFS= read -r -d '' path; do stays[$path]='was too large for it'; done <"$OUT.left.then"
}

# ignored_then TREE META LIST: marks in the array `stays` the paths of a list that a capture's rules ignored.
# Paths in the array `included` would have been captured all the same. With an empty HIDING, rules files in
# the list do not count.
ignored_then() {
  local path HIDING=${HIDING-1}
  ignored_by "$1" "$2" "$3" "$OUT.kept.then" || return
  while IFS= read -r -d '' path; do [ -n "${included[$path]-}" ] || stays[$path]=$IGNORED_THEN; done <"$OUT.kept.then"
}
IGNORED_THEN='its rules ignore it'

# find_included: `included` becomes the paths of the index that the session asks for by name, ignored or not.
find_included() {
  local path
  [ ${#INCLUDE[@]} -gt 0 ] || return 0
  git --glob-pathspecs ls-files -z -c -- "${INCLUDE[@]}" >"$OUT.included" || return
  while IFS= read -r -d '' path; do included[$path]=1; done <"$OUT.included"
}

# staying ADDED REMOVED LIST SAID: writes the paths of the list REMOVED that are in the array `stays` into
# LIST. SAID gets a warning for each whose value there is a reason, not only a space. A path in the way of a
# path of ADDED, or of a directory in the array WANTED, does not stay: a file where a directory comes, or the
# reverse.
staying() {
  local path above
  local -A added=()
  : >"$3" && : >"$4" || return
  [ ${#stays[@]} -gt 0 ] || return 0
  while IFS= read -r -d '' path; do added[$path]=1; done <"$1"
  for path in "${!added[@]}" "${!WANTED[@]}"; do
    [ -z "${WANTED[$path]-}" ] || stays[$path]=''
    while [[ $path == */* ]]; do path=${path%/*} && stays[$path]=''; done
  done
  while IFS= read -r -d '' path; do
    [ -n "${stays[$path]-}" ] || continue
    above=$path
    while [[ $above == */* ]]; do above=${above%/*} && [ -z "${added[$above]-}" ] || continue 2; done
    printf '%s\0' "$path" >&3 || return
    [ "${stays[$path]}" = ' ' ] || printf '%s stays, although the checkpoint does not have it: %s\0' "$path" "${stays[$path]}" || return
  done <"$2" 3>"$3" >"$4"
}

# kept_warnings FILE: one warning for each path, and the number of the rest.
kept_warnings() {
  local text lines=()
  mapfile -d '' -t lines <"$1"
  for text in "${lines[@]:0:20}"; do emit warning "$text"; done
  [ ${#lines[@]} -le 20 ] || emit warning "... and $((${#lines[@]} - 20)) more files stay in the same way"
}
