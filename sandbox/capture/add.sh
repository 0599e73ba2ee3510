# Brings the index of a shadow up to date with the working tree: first with git itself, then path by path
# where git stops or complains.
# shellcheck shell=bash

# add_all: every file that no rule ignores, as it is now. A file that could not be read is
# reported and leaves the index, because a stale entry would look like the present file (C5).
add_all() {
  local status rounds=0 mended=''
  local -A said=()
  : >"$OUT.lost"
  while :; do
    status=0
    git add -A --ignore-errors 2>"$OUT.add" || status=$?
    [ $status != 0 ] || [ -s "$OUT.add" ] || return 0
    ! ended $status || return $status
    slurp "$OUT.add"
    ! no_room "$TEXT" || return 1
    # A pack of the shadow cannot be read. What it held is read again.
    if [ -z "$mended" ] && [[ $TEXT == *"$SHADOW/objects/"* ]]; then
      mended=1
      drop_damaged && read_lost || return
      continue
    fi
    leave_embedded || return
    # Each of these stops git. The file is left out and reported, and git goes on.
    rounds=$((rounds + 1))
    [ $status -gt 1 ] && [ $rounds -le 50 ] && { closed_directory || leave_childless; } || break
  done
  hear $status || return
  [ $status = 0 ] || add_rest || return
  [ ! -s "$OUT.lost" ] || xargs -0 git --literal-pathspecs ls-files -z -c -- <"$OUT.lost" | git update-index --force-remove -z --stdin 2>>"$OUT.err"
}

# hear STATUS: reads the messages of git's add, line by line. A message that names a path becomes the reason
# if that path stays out (SAID).
hear() {
  local line path
  while IFS= read -r line; do
    ! harmless "$line" || continue
    case $line in
      # A directory: the entries below it are lost.
      "warning: could not open directory '"*)
        path=${line#*\'}
        lost "${path%%\':*}" "the directory cannot be read: ${line##*: }" || return
        ;;
      "warning: unable to access '"*)
        path=${line#*\'}
        fail_once "${path%\':*}" "the rules in it cannot be read: ${line##*: }"
        ;;
      'warning: '*) emit fail-path . && emit fail-reason "git warned of what Walkback does not know: ${line#warning: }" ;;
      'error: open("'*)
        path=${line#error: open(\"}
        said[/${path%\"): *}]="the file cannot be read: ${line##*: }"
        ;;
      "error: invalid path '"*)
        path=${line#*\'}
        said[/${path%\'}]=forbidden
        ;;
      "error: unable to add '"*"' to index") ;;
      'error: unable to index file '* | 'error: '*': failed to insert'* | 'error: short read while indexing '* | 'error: read error while indexing '*)
        path=${line#*\'}
        [[ $line == *"'"* ]] || path=${line##* }
        path=${path%%\'*}
        [ -n "${said[/$path]-}" ] || said[/$path]=${line#error: }
        ;;
      'error: '*': can only add regular files, symbolic links or git-directories')
        path=${line#error: }
        said[/${path%: *}]="not a file, a directory or a symlink: it stands where a captured file was"
        ;;
      'error: '*) [ "$1" = 1 ] || { emit fail-path . && emit fail-reason "${line#error: }"; } ;;
      # A message about a path below a directory that cannot be entered. Git prints nothing else about that
      # directory.
      *': Permission denied') closed_above "${line%: *}" || lost "${line%: *}" "the file cannot be reached: ${line##*: }" || return ;;
    esac
  done <"$OUT.add"
}

# add_rest: finds the files that git's add did not bring into the index, and adds them with `git
# update-index`. This also finds a path whose name we cannot read in git's message, and reads a file again
# that was written while git read it.
add_rest() {
  local path rest=() failures=0
  local -A seen=()
  git ls-files -z -m -d -o --exclude-standard >"$OUT.rest" 2>>"$OUT.err" || return
  while IFS= read -r -d '' path; do
    # A deleted file is listed twice.
    [ -z "${seen[/$path]-}" ] || continue
    seen[/$path]=1
    if [[ $path == */ ]]; then
      exclude_embedded "$path" || return
      continue
    fi
    case ${said[/$path]-} in
      forbidden) forbidden_name "$path" || return ;;
      'the file cannot be'* | 'not a file'*) lost "$path" "${said[/$path]}" || return ;;
      *)
        if [ -e "$path" ] && [ ! -L "$path" ] && [ ! -r "$path" ]; then
          lost "$path" "the file cannot be read: Permission denied" || return
        elif ! closed_above "$path"; then
          rest+=("$path")
        fi
        ;;
    esac
  done <"$OUT.rest"
  add_range 0 ${#rest[@]}
}

# add_range FROM COUNT: adds this range of the rest all at once. If that fails, it halves the
# range down to the file that git cannot add. That file is tried three times, because another
# process may be writing it.
add_range() {
  local from=$1 count=$2 half status tries path
  [ "$count" -gt 0 ] || return 0
  for tries in 1 2 3; do
    # Where most files fail, it is pointless to try each one.
    [ $failures -lt 100 ] || break
    status=0
    printf '%s\0' "${rest[@]:from:count}" | git update-index --add --remove --replace -z --stdin 2>"$OUT.again" || status=$?
    [ $status != 0 ] || return 0
    ! ended $status || return $status
    slurp "$OUT.again"
    ! no_room "$TEXT" || return 1
    [ "$count" = 1 ] || break
  done
  if [ "$count" = 1 ] || [ $failures -ge 100 ]; then
    for path in "${rest[@]:from:count}"; do give_up "$path" || return; done
    return 0
  fi
  half=$((count / 2))
  add_range "$from" $half && add_range $((from + half)) $((count - half))
}

# give_up PATH: reports a file that could not be added. TEXT is git's message.
give_up() {
  local path=$1 why=${said[/$1]-}
  # A directory stands where a captured file was. Nothing in it is captured, so nothing is lost.
  if [ -d "$path" ] && [ ! -L "$path" ]; then
    printf '%s\0' "$path" | git update-index --force-remove -z --stdin 2>>"$OUT.err"
    return
  fi
  failures=$((failures + 1))
  if [ -z "$why" ]; then
    why=${TEXT%%$'\n'*}
    why=${why#error: }
    why=${why#fatal: }
    [[ $why != *'unstable object source data'* ]] || why="somebody was writing it each of the three times it was read"
  fi
  lost "$path" "${why:-git could not read it}"
}

# forbidden_name PATH: whether git refuses this name in a tree: `.git` in another case, or
# `.gitmodules` as a symlink. Such a file is not part of a capture, and no restore touches it.
forbidden_name() {
  local path=$1 part='' below=$1
  while [[ $below == */* ]]; do
    part+=${below%%/*} below=${below#*/}
    [[ ${part##*/} != .[gG][iI][tT] ]] || { path=$part && break; }
    part+=/
  done
  printf '%s\0' "$1" | git update-index --force-remove -z --stdin 2>>"$OUT.err" || return
  [ -z "${seen[forbidden/$path]-}" ] || return 0
  seen[forbidden/$path]=1
  emit skip-path "$path" && emit skip-reason "$FORBIDDEN_WHY"
}

# closed_directory: leaves out the directory that stopped git, because it can be listed but not
# entered.
closed_directory() {
  local path
  path=${TEXT##*fatal: unable to stat \'}
  [ "$path" != "$TEXT" ] || return 1
  path=${path%%$'\n'*}
  closed_above "${path%\': *}"
}

# closed_above PATH: leaves out the directory above a path that cannot be entered, if there is one.
closed_above() {
  local below=$1 above=''
  while [[ $below == */* ]]; do
    above+=${above:+/}${below%%/*} below=${below#*/}
    [ -d "$above" ] && [ ! -x "$above" ] || continue
    [ -z "${said[closed/$above]-}" ] || return 0
    said[closed/$above]=1
    pattern_for "$above"
    printf '%s/\n' "$PATTERN" >>"$SHADOW/info/exclude" && lost "$above" "the directory cannot be entered"
    return
  done
  return 1
}

# leave_childless: leaves out nested repositories without commits that lie deeper than we look.
# They stop git.
leave_childless() {
  local line found=1
  while IFS= read -r line; do
    [[ $line == "error: '"*"/' does not have a commit checked out" ]] || continue
    line=${line#*\'}
    exclude_embedded "${line%/\' does not*}" && found=0
  done <"$OUT.add"
  return $found
}

# leave_embedded: leaves out repositories inside this one that git would record as links.
leave_embedded() {
  local line
  while IFS= read -r line; do
    [[ $line != 'warning: adding embedded git repository: '* ]] || exclude_embedded "${line#warning: adding embedded git repository: }" || return
  done <"$OUT.add"
}

# lost PATH REASON: reports a path as not captured. Its entry leaves the index when git is done.
lost() {
  printf '%s\0' "$1" >>"$OUT.lost" || return
  fail_once "$1" "$2"
}

fail_once() {
  [ -z "${said[failed/$1]-}" ] || return 0
  said[failed/$1]=1
  emit fail-path "$1" && emit fail-reason "$2"
}

# exclude_embedded PATH: excludes a repository inside this one that discovery does not reach. It
# must not be captured as a link.
exclude_embedded() {
  local path=${1%/}
  [ -n "$path" ] || return 1
  printf '%s\0' "$path" | git update-index --force-remove -z --stdin 2>/dev/null || return
  pattern_for "$path"
  printf '%s/\n' "$PATTERN" >>"$SHADOW/info/exclude"
  if [ -L "$path/.git" ]; then
    emit skip-path "$path" && emit skip-reason "$LINKED_GIT"
    return
  fi
  emit skip-path "$path" && emit skip-reason "a git repository deeper than $MAX_DEPTH levels below the projects root, or in a dependency folder"
}
