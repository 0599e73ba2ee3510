# Looks at the working files of one repository. Facts that do not fit into an index go into lists
# beside it.
# shellcheck shell=bash

# converts TEXT: whether a git config could make blobs differ from the bytes in the working tree, or hide edits.
converts() {
  local text=${1,,}
  text=${text//filemode = true/}
  text=${text//symlinks = true/}
  text=${text//autocrlf = false/}
  [[ $text =~ (autocrlf|eol|attributesfile|sparsecheckout|splitindex|trustctime|checkstat|symlinks|filemode|\[include) ]]
}

# settings_convert: whether git may convert files here. Attributes below the top are not looked for.
settings_convert() {
  converts "$HOST_CONFIG" || converts "$USER_CONFIG" || [ -s "$HC/info/attributes" ] || [ -s "$WB_XDG/attributes" ] || [ -s /etc/gitattributes ] || [ -e .gitattributes ]
}

# seed_index: the first capture starts from the host's index, so that unchanged files are not read
# again. Only when its entries match the bytes in the working tree: no conversion, no sparse or
# split index, no conflict.
seed_index() {
  local file seed=$SHADOW/index.seed
  [ -f "$HG/index" ] && [ -r "$HC/config" ] || return 0
  ! converts "$HOST_CONFIG" && ! converts "$USER_CONFIG" || return 0
  for file in "$HG"/sharedindex.* "$HC/info/attributes" "$HC/info/sparse-checkout" "$HG/info/sparse-checkout" "$WB_XDG/attributes" /etc/gitattributes; do
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

# plain_index: checks the index named by GIT_INDEX_FILE and clears the flags that hide edits.
# Entries for submodules are not ours. If a process failed, the index counts as not plain. (It
# counts matches instead of using grep -q, because with pipefail an early end would look like
# "nothing found".)
plain_index() {
  local count path paths=()
  # Reads everything about the entries in one pass: flags, submodules, conflict stages. Most
  # indexes have none of them.
  git ls-files -s -v -z >"$OUT.entries" || return
  perhaps grep -zE '^([a-zS] |. 160000 |. [0-7]+ [0-9a-f]+ [123])' "$OUT.entries" >"$OUT.flags" || return
  if [ -s "$OUT.flags" ]; then
    count=$(perhaps grep -czE '^. [0-7]+ [0-9a-f]+ [123]' "$OUT.flags") || return
    [ "$count" = 0 ] || return 1
  fi
  git ls-files -z -c -o --exclude-standard -- '.gitattributes' '*/.gitattributes' >"$OUT.attributes" && mapfile -d '' -t paths <"$OUT.attributes" || return
  # A symlink may lead to something that never ends.
  for path in "${paths[@]}"; do [ ! -L "$path" ] || return 1; done
  if [ ${#paths[@]} -gt 0 ]; then
    count=$(xargs -0 cat -- <"$OUT.attributes" 2>/dev/null | perhaps grep -cE '(^|[[:space:]])[-!]?(text|eol|crlf|filter|ident|working-tree-encoding)([[:space:]=]|$)|\[attr\]') || return
    [ "$count" = 0 ] || return 1
  fi
  [ -s "$OUT.flags" ] || return 0
  perhaps grep -z '^[a-zS]' "$OUT.flags" | cut -z -f2- >"$OUT.flagged" || return
  git update-index --no-assume-unchanged -z --stdin <"$OUT.flagged" || return
  git update-index --no-skip-worktree -z --stdin <"$OUT.flagged" || return
  perhaps grep -z '^. 160000' "$OUT.flags" | cut -z -f2- | git update-index --force-remove -z --stdin
}

# look: one walk with find. Finds modes and empty directories, which git does not keep, and
# reports paths that cannot be captured.
look() {
  local started
  stopwatch && started=$MICROSECONDS
  # Now and then ignored directories are walked too: a repository may have appeared deeper in one.
  [ ! -s "$SHADOW/ignored-directories" ] || ! line_of "$SHADOW/ignored-checked" || [ $((NOW - TEXT)) -le 600 ] || rm -f -- "$SHADOW/ignored-directories" || return
  known_ignored && find_odd || return
  stopwatch && started=$((MICROSECONDS - started))
  # This must happen before git reads any rules.
  [ ! -s "$OUT.special" ] || rules_read || return
  [ -z "$HG" ] || [ -f "$SHADOW/index" ] || [ ! -f "$SHADOW/host-index" ] || [ -n "${UNSEEDED-}" ] || seed_index
  # A slow walk means that something big is ignored. Find it, and leave it out of the walk from now on.
  if [ $started -gt 60000 ] && { ! line_of "$SHADOW/ignored-checked" || [ $((NOW - TEXT)) -gt 30 ]; }; then
    ! grep -qz ^R "$OUT.odd" || : >"$RUN/rescan"
    sound_index || return
    git ls-files -z -o -i --exclude-standard --directory 2>/dev/null | perhaps grep -z '/$' | sed -z '/^\.agent-shadow\/$/d;s#^#./#' >"$SHADOW/ignored-directories" || return
    printf '%s\n' "$NOW" >"$SHADOW/ignored-checked"
    known_ignored && find_odd || return
  fi
  sort_odd
}

# rules_read: whether git can read every rules file that the walk found. A socket is reported by git itself.
rules_read() {
  local line dir rest special=()
  mapfile -d '' -t special <"$OUT.special" || return
  for line in "${special[@]}"; do
    case $line in s/*) continue ;; */.gitignore | */.gitattributes) line=${line#*/./} ;; *) continue ;; esac
    dir='' rest=$line
    while [[ $rest == */* ]] && ! waits "./$dir.gitignore"; do
      dir+=${rest%%/*}/ rest=${rest#*/}
      ! unread "${dir%/}" || continue 2
    done
    bar "$line" || return
  done
}

# unread DIRECTORY: whether git reads no rules in it, because it is ignored and holds nothing tracked.
unread() {
  local index
  git check-ignore -q --no-index -- "./$1" 2>>"$OUT.err" || { survived $? && return 1; }
  for index in "$SHADOW/index" "$SHADOW/host-index"; do
    [ -f "$index" ] || continue
    GIT_INDEX_FILE=$index git --literal-pathspecs ls-files -z -c -- "$1/" >"$OUT.tracked" 2>>"$OUT.err" || { survived $? && return 1; }
    [ ! -s "$OUT.tracked" ] || return 1
  done
}

# rules_above PATH: whether git would wait for a rules file in a directory above PATH, in WAITS. CLEAR are the
# directories where it would not.
rules_above() {
  local above=./$1 name new=()
  while [[ $above == */* ]]; do
    above=${above%/*}
    [ -z "${CLEAR[$above]-}" ] || break
    for name in .gitignore .gitattributes; do
      ! waits "$above/$name" || { WAITS=${above#.} && WAITS=${WAITS#/} && WAITS+=${WAITS:+/}$name && return; }
    done
    new+=("$above")
  done
  for above in "${new[@]}"; do CLEAR[$above]=1; done
  return 1
}

# sort_odd: puts each kind of find_odd's results into its own list.
sort_odd() {
  : >"$OUT.modes"
  : >"$OUT.empty"
  BIG=() FORBIDDEN=()
  [ ! -s "$OUT.odd" ] || each_odd || return
  [ "$FILE_MODE" = 644 ] || printf 'U%s/\0' "$UMASK" >>"$OUT.modes"
}

each_odd() {
  local path size line
  sort -z -o "$OUT.odd" "$OUT.odd" || return
  while IFS= read -r -d '' line; do
    path=${line#*/./}
    size=${line%%/*}
    case $line in
      G*) RULES_NEW=1 && continue ;;
      R*) new_root "${path%.git}" && continue ;;
    esac
    [ ${#HELD[@]} = 0 ] || ! in_held "$path" || continue
    case $line in
      B*) BIG+=("${size#B}/$path") ;;
      M*) FORBIDDEN[$path]=1 ;;
      F* | D*) printf '%s/%s\0' "$size" "$path" >>"$OUT.modes" || return ;;
      E*) printf '%s\0' "$path" >>"$OUT.empty" || return ;;
    esac
  done <"$OUT.odd"
}

# new_root PATH/: a .git inside this repository that discovery did not know. If it is within the depth limit,
# discovery runs again in full.
new_root() {
  local path=${1%/} slashes
  [ "$REPOSITORY" = . ] || path=$REPOSITORY/$path
  slashes=${path//[!\/]/}
  [ ${#slashes} -ge "$MAX_DEPTH" ] || in_dependency_folder "$path" || : >"$RUN/rescan"
}

# known_ignored: PRUNE becomes tests of find for the nested roots and for the ignored directories that were
# found before and are still ignored. AROUND is the same for find_odd, which looks for roots two levels deep
# in such directories. Git takes a name that begins with a colon for a pattern, so here and elsewhere it gets
# all names with `./`. It does not look at a name that is a symlink now. If it refuses any name, nothing is
# left out of the walk.
known_ignored() {
  local path
  PRUNE=() AROUND=()
  for path in "${NESTED[@]}"; do glob_quote "$path" && PRUNE+=(-o -path "./$TEXT") && AROUND+=(-path "./$TEXT" -prune -o); done
  [ ! -s "$SHADOW/ignored-directories" ] || still_ignored
}

still_ignored() {
  local path
  local -A CLEAR=()
  while IFS= read -r -d '' path; do
    [ ! -L "${path%/}" ] && ! symlink_above "${path%/}" || continue
    path=${path%/}
    ! rules_above "${path#./}" || { bar "$WAITS" || return; }
    # With a slash at the end, git also reads the rules in the directory, when no rule above ignores it.
    waits "$path/.gitignore" || path+=/
    printf '%s\0' "$path"
  done <"$SHADOW/ignored-directories" >"$OUT.ignored.then" || return
  perhaps git check-ignore -z --stdin <"$OUT.ignored.then" >"$OUT.ignored" 2>>"$OUT.err" || { survived $? && : >"$OUT.ignored"; } || return
  while IFS= read -r -d '' path; do
    path=${path#./}
    glob_quote "${path%/}"
    PRUNE+=(-o -path "./$TEXT")
    if in_dependency_folder "$path"; then path=''; else path='/*/*'; fi
    AROUND+=(-path "./$TEXT$path" -prune -o -path "./$TEXT" -o -path "./$TEXT/*" -o)
  done <"$OUT.ignored"
}

# find_odd [DIRECTORY...]: walks everything, or only these directories, which begin with `./`. It also looks
# at the STORES (walk_stores).
#
# - $OUT.gitignores lists every rules file.
# - $OUT.special lists what is neither file, directory nor symlink, and rules behind a symlink that lead to a
#   pipe.
# - $OUT.directories lists every directory with its inode number, `NUMBER/./PATH`.
# shellcheck disable=SC2120 # a restore passes them
find_odd() {
  local where=(.) first=(-path . -o) numbers=(-fprintf "$OUT.directories" '%i/%p\0' ',') seen=$SHADOW/rules-seen STORE_TESTS=()
  [ -f "$seen" ] || forget_rules || return
  if [ $# -gt 0 ]; then
    where=("$@" -mindepth 1 -maxdepth 1) numbers=() first=()
  else
    walk_stores "$OUT.stores"
    where=("${STORES[@]}" "${where[@]}")
  fi
  find "${where[@]}" "${STORE_TESTS[@]}" "${first[@]}" \( -path ./.git -o -path ./.agent-shadow \) -prune -o -name .git -prune ! -type l -printf 'R/%p\0' -o "${AROUND[@]}" \( \
    -name .gitignore -fprintf "$OUT.gitignores" '%y/%p\n' -type f -cnewer "$seen" -printf 'G/./\0' , -type f \( -size +"$MAX_BYTES"c -printf 'B%s/%p\0' , ! -perm "$FILE_MODE" ! -perm "$EXEC_MODE" -printf 'F%m/%p\0' \) -o \
    -type l -name .gitmodules -printf 'M/%p\0' -o \
    -type d \( "${numbers[@]}" ! -perm "$EXEC_MODE" -printf 'D%m/%p\0' , -empty -printf 'E/%p\0' \) -o \
    ! -type f ! -type d \( ! -type l -o \( -name .gitignore -o -name .gitattributes \) -xtype p \) -fprintf "$OUT.special" '%y/%p\0' \) >"$OUT.odd" 2>"$OUT.find"
  walked $? "$OUT.find"
}

# astray: handles paths that the walk could not look at. Git also reports an unreadable path unless it is
# ignored. A path that has disappeared since does not count.
astray() {
  local line
  [ -s "$OUT.find" ] || return 0
  while IFS= read -r line; do
    [[ $line != *': No such file or directory' && $line != *': Permission denied' ]] || continue
    named "$line"
    emit fail-path "$TEXT" && emit fail-reason "${line##*\': }"
  done <"$OUT.find"
}

# drop_lost FILE: removes the modes of what could not be captured (lost), and of everything below it. A
# restore leaves these as they are.
drop_lost() { [ ! -s "$OUT.lost" ] || [ ! -s "$1" ] || without_lost "$1"; }

without_lost() {
  local entry above
  local -A out=()
  while IFS= read -r -d '' entry; do out[/${entry%/}]=1; done <"$OUT.lost"
  while IFS= read -r -d '' entry; do
    above=/${entry#*/}
    while [ -n "$above" ] && [ -z "${out[$above]-}" ]; do above=${above%/*}; done
    [ -n "$above" ] || printf '%s\0' "$entry" || return
  done <"$1" >"$1.kept"
  mv -f -- "$1.kept" "$1"
}

# drop_ignored FILE: keeps the entries ("mode/path" or "path") whose path is captured or holds captured files.
drop_ignored() { [ ! -s "$1" ] || without_ignored "$1" "$2"; }

without_ignored() {
  local file=$1 strip=$2 entry
  local -A ignored=()
  if [ "$strip" = 1 ]; then perhaps grep -zv '^U' "$file" | sed -z 's#^[^/]*/#./#'; else sed -z 's#^#./#' -- "$file"; fi | perhaps git check-ignore -z --stdin >"$OUT.ignored" 2>>"$OUT.err" || return
  [ -s "$OUT.ignored" ] || return 0
  while IFS= read -r -d '' entry; do ignored[${entry#./}]=1; done <"$OUT.ignored"
  while IFS= read -r -d '' entry; do
    if [ "$strip" = 1 ]; then
      [ -n "${ignored[${entry#*/}]-}" ] || printf '%s\0' "$entry" || return
    else
      [ -n "${ignored[$entry]-}" ] || printf '%s\0' "$entry" || return
    fi
  done <"$file" >"$file.kept" || return
  mv -f -- "$file.kept" "$file"
}
