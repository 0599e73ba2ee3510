# The working files of one repository: into the index of its shadow, and what an index has no room for into lists beside it.
# shellcheck shell=bash

# converts TEXT: whether a git config could make blobs differ from the bytes in the working tree, or hide edits.
converts() {
  local text=${1,,}
  text=${text//filemode = true/}
  text=${text//symlinks = true/}
  text=${text//autocrlf = false/}
  [[ $text =~ (autocrlf|eol|attributesfile|sparsecheckout|splitindex|trustctime|checkstat|symlinks|filemode|\[include) ]]
}

# seed_index: the first time, start from the host's index, so that unchanged files are not read again. Only when its
# entries are bytes as they stand in the working tree: no conversion, no sparse or split index, no conflict.
seed_index() {
  local file seed=$SHADOW/index.seed
  [ -f "$HG/index" ] && [ -r "$HC/config" ] || return 0
  ! converts "$HOST_CONFIG" && ! converts "$USER_CONFIG" || return 0
  for file in "$HG"/sharedindex.* "$HC/info/attributes" "$HC/info/sparse-checkout" "$HG/info/sparse-checkout" "$HG/config.worktree" "$WB_XDG/attributes" /etc/gitattributes; do
    [ ! -s "$file" ] || return 0
  done
  # -p keeps the time of the index, which git needs to notice files changed in the same instant.
  cp -p -- "$HG/index" "$seed" 2>/dev/null || return 0
  if (export GIT_INDEX_FILE=$seed && plain_index); then
    mv -f -- "$seed" "$SHADOW/index"
  else
    rm -f -- "$seed"
  fi
}

# plain_index: checks the index named by GIT_INDEX_FILE and takes off the flags that hide edits. Entries for
# submodules are not ours. (Counts, not grep -q: with pipefail an early end would look like "nothing found".)
plain_index() {
  local count
  # Everything about entries in one look: flags, submodules, conflict stages. Most indexes have none of them.
  git ls-files -s -v -z >"$OUT.entries" || return 1
  grep -zE '^([a-zS] |. 160000 |. [0-7]+ [0-9a-f]+ [123])' "$OUT.entries" >"$OUT.flags" || [ $? = 1 ] || return 1
  if [ -s "$OUT.flags" ]; then
    count=$(grep -czE '^. [0-7]+ [0-9a-f]+ [123]' "$OUT.flags")
    [ "$count" = 0 ] || return 1
  fi
  count=$(git ls-files -z -c -o --exclude-standard -- '.gitattributes' '*/.gitattributes' | xargs -0 -r cat -- 2>/dev/null \
    | grep -cE '(^|[[:space:]])[-!]?(text|eol|crlf|filter|ident|working-tree-encoding)([[:space:]=]|$)|\[attr\]')
  [ "${count:-0}" = 0 ] || return 1
  [ -s "$OUT.flags" ] || return 0
  { grep -z '^[a-zS]' "$OUT.flags" || :; } | cut -z -f2- >"$OUT.flagged"
  git update-index --no-assume-unchanged -z --stdin <"$OUT.flagged" || return 1
  git update-index --no-skip-worktree -z --stdin <"$OUT.flagged" || return 1
  { grep -z '^. 160000' "$OUT.flags" || :; } | cut -z -f2- | git update-index --force-remove -z --stdin
}

# look: one walk with find. Finds (modes and empty directories git does not keep) and reports what can not be captured.
look() {
  local started prune=()
  stopwatch && started=$MICROSECONDS
  known_ignored
  find_odd
  # A walk that takes long meets something big that is ignored: look for it, and walk around it from now on.
  stopwatch
  if [ $((MICROSECONDS - started)) -gt 60000 ] && { ! line_of "$SHADOW/ignored-checked" || [ $((NOW - TEXT)) -gt 30 ]; }; then
    git ls-files -z -o -i --exclude-standard --directory 2>/dev/null | { grep -z '/$' || :; } | { grep -zvx '.agent-shadow/' || :; } >"$SHADOW/ignored-directories"
    printf '%s\n' "$NOW" >"$SHADOW/ignored-checked"
    known_ignored
    find_odd
  fi
  sort_odd
}

# sort_odd: what find_odd found, each kind to its place.
sort_odd() {
  local path size line
  : >"$OUT.modes"
  : >"$OUT.empty"
  BIG=()
  if [ -s "$OUT.odd" ]; then
    while IFS= read -r -d '' line; do
      path=${line#*/./}
      size=${line%%/*}
      case $line in
        G*) RULES_NEW=1 ;;
        R*) new_root "${path%.git}" ;;
        B*) BIG+=("${size#B}/$path") ;;
        F* | D*) printf '%s/%s\0' "$size" "$path" >>"$OUT.modes" ;;
        E*) printf '%s\0' "$path" >>"$OUT.empty" ;;
      esac
    done < <(exec sort -z "$OUT.odd")
  fi
  [ "$FILE_MODE" = 644 ] || printf 'U%s/\0' "$UMASK" >>"$OUT.modes"
}

# new_root PATH/: a .git inside this repository that discovery did not know. Within reach, everything is looked for again.
new_root() {
  local path=${1%/} slashes
  [ "$REPOSITORY" = . ] || path=$REPOSITORY/$path
  slashes=${path//[!\/]/}
  [ ${#slashes} -ge "$MAX_DEPTH" ] || in_dependency_folder "$path" || : >"$RUN/rescan"
}

# stopwatch: MICROSECONDS since some moment; always 0 before bash 5, which only means no walk looks slow.
stopwatch() { MICROSECONDS=${EPOCHREALTIME:-0} && MICROSECONDS=${MICROSECONDS/[.,]/}; }

# known_ignored: the ignored directories found before, as far as they are still ignored.
known_ignored() {
  local path
  prune=()
  if [ -s "$SHADOW/ignored-directories" ]; then
    while IFS= read -r -d '' path; do
      path=${path%/}
      prune+=(-o -path "./$(glob_quote "$path")")
    done < <(git check-ignore -z --stdin <"$SHADOW/ignored-directories" 2>/dev/null)
  fi
  for path in "${NESTED[@]}"; do prune+=(-o -path "./$(glob_quote "$path")"); done
}

# find_odd [DIRECTORY...]: everywhere, or in these directories alone, which begin with `./`.
find_odd() {
  local where=(.)
  [ $# -eq 0 ] || where=("$@" -maxdepth 1)
  [ -f "$SHADOW/index.forced" ] || : >"$SHADOW/index.forced"
  find "${where[@]}" -mindepth 1 \( -path ./.git -o -path ./.agent-shadow "${prune[@]}" \) -prune -o -name .git -prune ! -type l -printf 'R/%p\0' -o \( \
    -type f \( -name .gitignore -cnewer "$SHADOW/index.forced" -printf 'G/./\0' , -size +"$MAX_BYTES"c -printf 'B%s/%p\0' , ! -perm "$FILE_MODE" ! -perm "$EXEC_MODE" -printf 'F%m/%p\0' \) -o \
    -type d \( ! -perm "$EXEC_MODE" -printf 'D%m/%p\0' , -empty -printf 'E/%p\0' \) \) >"$OUT.odd" 2>"$OUT.find"
}

glob_quote() {
  local text=${1//\\/\\\\}
  text=${text//\*/\\*}
  text=${text//\?/\\?}
  printf '%s' "${text//\[/\\[}"
}

# drop_ignored FILE: keeps the entries ("mode/path" or "path") whose path is captured or holds captured files.
drop_ignored() {
  local file=$1 strip=$2 entry
  [ -s "$file" ] || return 0
  local -A ignored=()
  while IFS= read -r -d '' entry; do ignored[$entry]=1; done < <(
    if [ "$strip" = 1 ]; then grep -zv '^U' "$file" | cut -z -d/ -f2-; else cat "$file"; fi | git check-ignore -z --stdin 2>/dev/null
  )
  [ ${#ignored[@]} -gt 0 ] || return 0
  while IFS= read -r -d '' entry; do
    if [ "$strip" = 1 ]; then
      [ -n "${ignored[${entry#*/}]-}" ] || printf '%s\0' "$entry"
    else
      [ -n "${ignored[$entry]-}" ] || printf '%s\0' "$entry"
    fi
  done <"$file" >"$file.kept"
  mv -f -- "$file.kept" "$file"
}

declare -A LEFT_OUT=()

# leave_out_big: untracked files over the cap stay out of the capture, now and until they shrink, and are reported.
leave_out_big() {
  local entry path
  LEFT_OUT=()
  [ ${#BIG[@]} -gt 0 ] || return 0
  local -A tracked=()
  while IFS= read -r -d '' path; do tracked[$path]=1; done < <(printf '%s\0' "${BIG[@]#*/}" | xargs -0 git --literal-pathspecs ls-files -z -c --)
  local -A host=()
  if [ -f "$SHADOW/host-index" ]; then
    while IFS= read -r -d '' path; do host[$path]=1; done < <(
      printf '%s\0' "${BIG[@]#*/}" | GIT_INDEX_FILE=$SHADOW/host-index xargs -0 git --literal-pathspecs ls-files -z -c --
    )
  fi
  for entry in "${BIG[@]}"; do
    path=${entry#*/}
    [ -z "${host[$path]-}" ] || continue
    [ -n "${tracked[$path]-}" ] || ! git check-ignore -q -- "./$path" 2>/dev/null || continue
    pattern_for "$path"
    printf '%s\n' "$PATTERN" >>"$SHADOW/info/exclude"
    # A captured file that grew past the cap leaves the index, so that no stale copy looks current.
    [ -z "${tracked[$path]-}" ] || printf '%s\0' "$path" | git update-index --force-remove -z --stdin
    left_out "$path" "${entry%%/*}"
  done
}

left_out() {
  LEFT_OUT[$1]=1
  emit skip-path "$1" && emit skip-reason "larger than maxFileBytes ($MAX_BYTES)" && emit skip-size "$2"
}

# add_all: brings the shadow's index to the working tree. What could not be read is reported, and leaves the index: a stale
# entry would look like the file as it is now (C5).
add_all() {
  local status line path
  : >"$OUT.lost"
  git add -A --ignore-errors 2>"$OUT.add"
  status=$?
  while [ $status -gt 1 ] && closed_directory; do
    git add -A --ignore-errors 2>"$OUT.add"
    status=$?
  done
  if [ -s "$OUT.add" ] && grep -q 'does not have a commit checked out' "$OUT.add"; then
    # Nested repositories deeper than we look, without commits, stop git: leave them out and say so.
    while IFS= read -r path; do exclude_embedded "$path"; done < <(sed -n "s/^error: '\(.*\)\/' does not have a commit checked out$/\1/p" "$OUT.add")
    { grep '^warning: adding embedded' "$OUT.add" || :; } >"$OUT.embedded"
    git add -A --ignore-errors 2>>"$OUT.embedded"
    status=$?
    mv -f -- "$OUT.embedded" "$OUT.add"
  fi
  [ $status -le 1 ] || return 1
  [ -s "$OUT.add" ] || return 0
  while IFS= read -r line; do
    case $line in
      'warning: adding embedded git repository: '*) exclude_embedded "${line#warning: adding embedded git repository: }" ;;
      "warning: could not open directory '"*)
        path=${line#*\'}
        lost "${path%%\':*}" "the directory can not be read: ${line##*: }"
        ;;
      'error: open("'*)
        path=${line#error: open(\"}
        lost "${path%\"): *}" "the file can not be read: ${line##*: }"
        ;;
      'error: unable to index file'* | 'error: '*': failed to insert'* | 'error: short read while indexing'* | 'error: read error while indexing'*)
        path=${line#*\'}
        [[ $line == *"'"* ]] || path=${line##* }
        grep -qF "open(\"${path%%\'*}\")" "$OUT.add" || lost "${path%%\'*}" "${line#error: }"
        ;;
      'error: '*': can only add regular files, symbolic links or git-directories')
        path=${line#error: }
        lost "${path%: *}" "not a file, a directory or a symlink: it stands where a captured file was"
        ;;
      *'No space left on device'*) return 1 ;;
      'warning: '*) ;;
      'error: '*) emit fail-path . && emit fail-reason "${line#error: }" ;;
      *': Permission denied')
        # Below a directory that may not be entered; git says nothing else about it.
        lost "${line%: *}" "the file can not be reached: ${line##*: }"
        ;;
    esac
  done <"$OUT.add"
  [ $status = 0 ] || grep -q '^error: ' "$OUT.add" || [ -s "$OUT.lost" ] || return 1
  [ ! -s "$OUT.lost" ] || xargs -0 git --literal-pathspecs ls-files -z -c -- <"$OUT.lost" | git update-index --force-remove -z --stdin 2>>"$OUT.err"
}

# closed_directory: leaves out the directory that stopped git: one that may be listed and not entered.
closed_directory() {
  local path
  path=$(sed -n "s/^fatal: unable to stat '\(.*\)': [^:]*$/\1/p" "$OUT.add")
  [[ $path == */* ]] && [ ! -x "${path%/*}" ] || return 1
  path=${path%/*}
  pattern_for "$path"
  printf '%s/\n' "$PATTERN" >>"$SHADOW/info/exclude" && lost "$path" "the directory can not be entered"
}

# lost PATH REASON: reported as not captured; its entry leaves the index when git is done.
lost() {
  printf '%s\0' "$1" >>"$OUT.lost"
  emit fail-path "$1" && emit fail-reason "$2"
}

# exclude_embedded PATH: a repository inside this one that discovery does not reach is not ours to capture as a link.
exclude_embedded() {
  [ -n "$1" ] || return 1
  printf '%s\0' "$1" | git update-index --force-remove -z --stdin 2>/dev/null
  pattern_for "$1"
  printf '%s/\n' "$PATTERN" >>"$SHADOW/info/exclude"
  if [ -L "${1%/}/.git" ]; then
    emit skip-path "$1" && emit skip-reason "$LINKED_GIT"
    return 0
  fi
  emit skip-path "$1" && emit skip-reason "a git repository deeper than $MAX_DEPTH levels below the projects root, or in a dependency folder"
}

# add_ignored: what the host tracks although a rule ignores it, and what the session asks for by name.
add_ignored() {
  if [ ! -f "$SHADOW/host-index" ]; then
    : >"$SHADOW/tracked-ignored"
  elif [ -n "$HOST_INDEX_NEW$RULES_NEW" ]; then
    GIT_INDEX_FILE=$SHADOW/host-index git ls-files -z -c -i --exclude-standard >"$SHADOW/tracked-ignored" 2>>"$OUT.add" || return 1
  fi
  if [ -s "$SHADOW/tracked-ignored" ]; then
    existing <"$SHADOW/tracked-ignored" | git update-index --add -z --stdin 2>>"$OUT.add" || return 1
  fi
  [ ${#INCLUDE[@]} -eq 0 ] || add_included || return 1
  if [ ${#EXCLUDE[@]} -gt 0 ]; then
    printf '%s\n' "${EXCLUDE[@]}" >"$SHADOW/info/exclude-session"
    git ls-files -z -c -i --exclude-from="$SHADOW/info/exclude-session" | git update-index --force-remove -z --stdin 2>>"$OUT.add" || return 1
  fi
}

# add_included: what the session asks for by name although it is ignored, but for what is over the cap: that is left out and
# said, as elsewhere. The sizes are asked for here, because the walk goes around large ignored directories.
add_included() {
  local path size
  local -A big=()
  git --glob-pathspecs ls-files -z -o -- "${INCLUDE[@]}" 2>/dev/null | { grep -zv '^\.agent-shadow/' || :; } | existing >"$OUT.included"
  [ -s "$OUT.included" ] || return 0
  while IFS= read -r -d '' size && IFS= read -r -d '' path; do
    path=${path#./}
    big[$path]=1
    [ -n "${LEFT_OUT[$path]-}" ] || left_out "$path" "$size"
  done < <(sed -z 's#^#./#' "$OUT.included" | xargs -0 sh -c 'exec find "$@" -maxdepth 0 -type f -size +'"$MAX_BYTES"'c -printf "%s\0%p\0"' find)
  while IFS= read -r -d '' path; do
    [ -n "${big[$path]-}" ] || printf '%s\0' "$path"
  done <"$OUT.included" | git update-index --add -z --stdin 2>>"$OUT.add"
}

# leave_nested: files below a repository inside this one are that one's, also those captured before it came.
leave_nested() {
  [ ${#NESTED[@]} -gt 0 ] || return 0
  git --literal-pathspecs ls-files -z -c -- "${NESTED[@]/%//}" >"$OUT.nested" 2>>"$OUT.add" || return 1
  [ ! -s "$OUT.nested" ] || git update-index --force-remove -z --stdin <"$OUT.nested" 2>>"$OUT.add"
}

# existing: passes on the paths that are files or symlinks.
existing() {
  local path
  while IFS= read -r -d '' path; do
    if [ -L "$path" ] || [ -f "$path" ]; then printf '%s\0' "$path"; fi
  done
}
