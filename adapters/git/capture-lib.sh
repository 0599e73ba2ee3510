# Captures one repository: working files, sidecar and host state become one commit in the shadow (docs/design.md).
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

# copy_host_index: our copy of the host's index, made anew only when the host wrote another one. One that git can not read is
# reported and counts as none.
copy_host_index() {
  HOST_INDEX_NEW=''
  if [ -z "$HG" ] || [ ! -f "$HG/index" ]; then
    rm -f -- "$SHADOW/host-index" "$SHADOW/host-index.part"
    return 0
  fi
  if [ -f "$SHADOW/host-index" ] && [ ! "$HG/index" -nt "$SHADOW/host-index" ] && [ ! "$HG/index" -ot "$SHADOW/host-index" ]; then
    return 0
  fi
  HOST_INDEX_NEW=1
  rm -f -- "$SHADOW/host-index.part"
  local shared=("$HG"/sharedindex.*)
  [ ${#shared[@]} -eq 0 ] || cp -p -- "${shared[@]}" "$SHADOW/" 2>>"$OUT.err" || return 1
  if cp -p -- "$HG/index" "$SHADOW/host-index" 2>"$OUT.index" && GIT_INDEX_FILE=$SHADOW/host-index git ls-files -u -z >"$OUT.stages" 2>"$OUT.index"; then return 0; fi
  ! grep -q 'No space left on device' "$OUT.index" || { cat -- "$OUT.index" >>"$OUT.err" && return 1; }
  rm -f -- "$SHADOW/host-index"
  line_of "$OUT.index" || :
  emit fail-path .git/index && emit fail-reason "the index can not be read, so it is not captured: ${TEXT##*: }"
}

# host_index_tree: INDEX_PART holds mktree lines for the host's index: stage 0, conflict stages, flags. Where HEAD can not be
# read, the index may name content that is gone as well: then it is reported and counts as none.
host_index_tree() {
  INDEX_PART=''
  [ -f "$SHADOW/host-index" ] || return 0
  if [ "$HEAD_KIND" = unreadable ]; then
    index_trees '' && return 0
    ! grep -q 'No space left on device' "$OUT.err" || return 1
    INDEX_PART=''
    emit fail-path .git/index && emit fail-reason "the index names objects that are not there, so it is not captured"
    return 0
  fi
  if [ -f "$SHADOW/host-index.part" ]; then
    slurp "$SHADOW/host-index.part"
    INDEX_PART=$TEXT
    return 0
  fi
  index_trees --missing-ok && printf '%s' "$INDEX_PART" >"$SHADOW/host-index.part"
}

# index_trees [--missing-ok]: sets INDEX_PART from our copy of the host's index. A partial clone misses content from the start.
index_trees() {
  local stage tree path
  local GIT_INDEX_FILE=$SHADOW/host-index
  export GIT_INDEX_FILE
  INDEX_PART=''
  if [ -z "$HOST_INDEX_NEW" ]; then git ls-files -u -z >"$OUT.stages" 2>"$OUT.err" || return 1; fi
  if [ -s "$OUT.stages" ]; then
    for stage in 1 2 3; do
      rm -f -- "$SHADOW/tmp-index"
      sed -z "s/^\([0-7]* [0-9a-f]*\) $stage\t/\1 0\t/;t;d" "$OUT.stages" | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return 1
      tree=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree $1) || return 1
      INDEX_PART+="040000 tree $tree"$'\t'"stage$stage"$'\n'
    done
    rm -f -- "$SHADOW/tmp-index"
    git ls-files -s -z | sed -z '/^[0-7]* [0-9a-f]* 0\t/!d' | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return 1
    tree=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree $1 2>"$OUT.err") || return 1
    rm -f -- "$SHADOW/tmp-index"
  else
    tree=$(git write-tree $1 2>"$OUT.err") || return 1
  fi
  INDEX_PART+="040000 tree $tree"$'\t'"index"$'\n'
  {
    git ls-files -v -z | grep -z '^[a-zS]'
    # Intent to add: entries of the index that its tree leaves out.
    git diff-index --cached --diff-filter=A --name-only -z --ita-visible-in-index "$tree" 2>/dev/null | while IFS= read -r -d '' path; do printf 'N %s\0' "$path"; done
  } >"$OUT.flags"
  if [ -s "$OUT.flags" ]; then
    INDEX_PART+="100644 blob $(git hash-object -w --no-filters -- "$OUT.flags")"$'\t'"index-flags"$'\n'
  fi
}

# state_tree: STATE_PART for an operation in progress, STATE_TIPS the commits it needs.
state_tree() {
  local name file files=() id lines=''
  STATE_PART='' STATE_TIPS=''
  for name in "${STATE_FILES[@]}"; do
    [ -f "$HG/$name" ] && files+=("$name")
  done
  for name in "${STATE_DIRS[@]}"; do
    [ -d "$HG/$name" ] || continue
    while IFS= read -r -d '' file; do files+=("$name/$file"); done < <(find "$HG/$name" -type f -printf '%P\0' | sort -z)
  done
  [ ${#files[@]} -gt 0 ] || return 0
  rm -f -- "$SHADOW/tmp-index"
  for file in "${files[@]}"; do
    id=$(git hash-object -w --no-filters -- "$HG/$file") || return 1
    printf '100644 %s\t%s\0' "$id" "$file"
  done | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return 1
  lines=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree) || return 1
  rm -f -- "$SHADOW/tmp-index"
  STATE_PART="040000 tree $lines"$'\t'"state"$'\n'
  STATE_TIPS=$(cd "$HG" && grep -hsoE '\b[0-9a-f]{40,64}\b' -- "${files[@]}" | sort -u | head -200) || :
}

# host_state: META is the commit that holds host state and sidecar. Same input, same id: identity and date are fixed.
host_state() {
  local key='' config='' line ids parents='' tree tip tips others=''
  if [ -n "$HG" ]; then
    host_index_tree || return 1
    state_tree || return 1
    config=$HOST_CONFIG
    slurp "$HC/shallow"
    key+=$TEXT
    key+="$HEAD_KIND $HEAD_REF $HEAD_COMMIT"$'\n'"$BRANCHES"$'\n'"$INDEX_PART$STATE_PART$config"$'\n'
  else
    INDEX_PART='' STATE_PART='' STATE_TIPS='' key='no host'$'\n'
  fi
  if [ -s "$OUT.modes" ] || [ -s "$OUT.empty" ]; then key+=$(sha256sum <"$OUT.modes")$(sha256sum <"$OUT.empty"); fi
  slurp "$SHADOW/meta.key"
  if [ "$TEXT" = "$key" ] && line_of "$SHADOW/meta.id" && [ -n "$TEXT" ]; then
    META=$TEXT
    return 0
  fi
  rm -f -- "$SHADOW/meta.id"
  {
    printf 'head %s\n' "$HEAD_KIND"
    [ -z "$HEAD_REF" ] || printf 'ref %s\n' "$HEAD_REF"
    [ -z "$HEAD_COMMIT" ] || printf 'commit %s\n' "$HEAD_COMMIT"
    [ -z "$BRANCHES" ] || printf 'branch %s\n' "${BRANCHES//$'\n'/$'\n'branch }"
  } >"$OUT.host"
  : >"$OUT.shallow"
  : >"$OUT.remotes"
  if [ -n "$HG" ]; then
    [ ! -s "$HC/shallow" ] || cat -- "$HC/shallow" >"$OUT.shallow"
    # Addresses of remotes travel, credentials inside them do not.
    [[ ${HOST_CONFIG,,} != *remote* && ${HOST_CONFIG,,} != *branch* ]] || "${HOST_GIT[@]}" --git-dir="$HG" config --no-includes --file "$HC/config" -z --get-regexp '^(remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter)|branch\..*\.(remote|merge))$' 2>/dev/null \
      | sed -z 's#://[^/@]*@#://#' >"$OUT.remotes"
  fi
  ids=($(printf '%s\n' "$OUT.host" "$OUT.modes" "$OUT.empty" "$OUT.shallow" "$OUT.remotes" | git hash-object -w --no-filters --stdin-paths)) || return 1
  [ ${#ids[@]} = 5 ] || return 1
  tree=$({
    printf '100644 blob %s\thost\n100644 blob %s\tmodes\n100644 blob %s\tempty\n' "${ids[0]}" "${ids[1]}" "${ids[2]}"
    [ ! -s "$OUT.shallow" ] || printf '100644 blob %s\tshallow\n' "${ids[3]}"
    [ ! -s "$OUT.remotes" ] || printf '100644 blob %s\tremotes\n' "${ids[4]}"
    printf '%s%s' "$INDEX_PART" "$STATE_PART"
  } | git mktree --missing) || return 1
  # Host HEAD first, then every other tip that is there: commits the agent made travel with the capture.
  tips=$HEAD_COMMIT
  while read -r tip line; do
    [ -z "$tip" ] || [ "$tip" = "$HEAD_COMMIT" ] || others+=$tip$'\n'
  done <<<"$BRANCHES"$'\n'"$STATE_TIPS"
  [ -z "$others" ] || tips+=${tips:+$'\n'}$(sort -u <<<"${others%$'\n'}")
  while [ -n "$tips" ] && read -r tip line; do
    [ "$line" = commit ] && parents+="parent $tip"$'\n'
  done < <(exec git cat-file --batch-check='%(objectname) %(objecttype)' <<<"$tips")
  META=$(printf 'tree %s\n%sauthor Walkback <capture@walkback.invalid> %s\ncommitter Walkback <capture@walkback.invalid> %s\n\nhost state\n' "$tree" "$parents" "$ZERO_TIME" "$ZERO_TIME" \
    | git hash-object -t commit -w --stdin) || return 1
  printf '%s' "$key" >"$SHADOW/meta.key" && printf '%s' "$META" >"$SHADOW/meta.id"
}

# snapshot: TREE is the working files as they are now, META the rest. The one way to look at a repository: used by
# capture, and by restore before it writes and after.
snapshot() {
  local target=$1
  RULES_NEW=''
  [ -f "$SHADOW/index.forced" ] || RULES_NEW=1
  write_excludes "${NESTED[@]}" || return 1
  if [ -n "$HG" ]; then
    borrow_host && copy_host_index || return 1
    [ -f "$SHADOW/index" ] || [ ! -f "$SHADOW/host-index" ] || [ -n "${UNSEEDED-}" ] || seed_index
  else
    rm -f -- "$SHADOW/objects/info/alternates" "$SHADOW/host-index" "$SHADOW/host-index.part"
  fi
  look || return 1
  [ -z "$RULES_NEW" ] || : >"$SHADOW/index.forced"
  leave_out_big || return 1
  add_all || return 1
  add_ignored || return 1
  leave_nested || return 1
  read_tree_id || return 1
  if [ -n "$target" ]; then
    force_collisions "$target" || return 1
  fi
  drop_ignored "$OUT.modes" 1
  drop_ignored "$OUT.empty" 0
  host_state
}

# read_tree_id: the tree of the index. Asked of git only when the index was written since the last answer: git puts another
# file there each time, and the name kept for the one before keeps its inode from being used again. Clocks say nothing here.
read_tree_id() {
  if [ "$SHADOW/index" -ef "$SHADOW/index.known" ] && line_of "$SHADOW/tree.id" && [ -n "$TEXT" ]; then
    TREE=$TEXT
    return 0
  fi
  TREE=$(exec git write-tree 2>>"$OUT.err") && keep_tree_id
}

# keep_tree_id: TREE is the tree of the index. The text goes first: with an older index of that name it is not believed.
keep_tree_id() {
  if [ "$SHADOW/index" -ef "$SHADOW/index.known" ] && line_of "$SHADOW/tree.id" && [ "$TEXT" = "$TREE" ]; then return 0; fi
  printf '%s\n' "$TREE" >"$SHADOW/tree.id" || return 1
  # Where the file system has no second names, git is asked each time.
  ln -f -- "$SHADOW/index" "$SHADOW/index.known" 2>/dev/null || :
}

# changes FROM TO: into $OUT.changes, status and path of every difference, each ended by NUL; the paths alone into
# $OUT.added, $OUT.removed and $OUT.typed (files that become links and the reverse). WRITTEN and REMOVED count;
# RULES_DIFFER says that a .gitignore is among them. Trees do not change, so the same question is asked of git once a call.
changes() {
  local i count path entries=() all IFS=$'\n' pair="$1 $2"
  line_of "$OUT.changes.of" || :
  if [ "${TEXT% * * *}" = "$pair" ]; then
    IFS=' ' read -r WRITTEN REMOVED RULES_DIFFER <<<"${TEXT#"$pair "}"
    return 0
  fi
  : >"$OUT.changes.of"
  : >"$OUT.changes"
  [ "$1" = "$2" ] || git diff-tree -r -z --no-renames --name-status "$1" "$2" >"$OUT.changes" || return 1
  mapfile -d '' -t entries <"$OUT.changes" || return 1
  count=$((${#entries[@]} / 2)) REMOVED=0 RULES_DIFFER=0
  # In one word, because most restores only change what is there: then there is nothing to look at one by one.
  all=$IFS${entries[*]}$IFS
  [[ $all != *[/$IFS].gitignore$IFS* ]] || RULES_DIFFER=1
  [[ $all == *$IFS[ADT]$IFS* ]] || entries=()
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    path=${entries[i + 1]}
    case ${entries[i]} in
      D) REMOVED=$((REMOVED + 1)) && printf '%s\0' "$path" >&4 ;;
      A) printf '%s\0' "$path" >&3 ;;
      T) printf '%s\0' "$path" >&5 ;;
    esac
  done 3>"$OUT.added" 4>"$OUT.removed" 5>"$OUT.typed"
  WRITTEN=$((count - REMOVED))
  printf '%s %s %s %s\n' "$pair" $WRITTEN $REMOVED $RULES_DIFFER >"$OUT.changes.of"
}

# collisions TREE: into $OUT.forced, what is on disk uncaptured where a restore of TREE would write: files, links, what is
# neither, and directories that can not be looked into.
collisions() {
  local path parent rest inner
  local -A seen=()
  : >"$OUT.forced"
  changes "$TREE" "$1" || return 1
  [ -s "$OUT.added" ] || return 0
  # From the top down: what is below a symlink is not ours to look at. A directory is looked at once.
  while IFS= read -r -d '' path; do
    for inner in "${INNER[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
    parent='' rest=$path
    while [[ $rest == */* ]]; do
      parent+=${rest%%/*} rest=${rest#*/}
      if [ -z "${seen[$parent]-}" ]; then
        seen[$parent]=stop
        if [ -d "$parent" ] && [ -x "$parent" ] && [ ! -L "$parent" ]; then
          seen[$parent]=go
        elif [ -L "$parent" ] || [ -e "$parent" ]; then
          printf '%s\0' "$parent"
        fi
      fi
      [ "${seen[$parent]}" = go ] || continue 2
      parent+=/
    done
    if [ -L "$path" ] || { [ -e "$path" ] && [ ! -d "$path" ]; }; then printf '%s\0' "$path"; fi
  done <"$OUT.added" | sort -zu >"$OUT.forced.all"
  # A captured file above a wanted path is no collision: its removal is part of the plan.
  [ ! -s "$OUT.forced.all" ] || { xargs -0 git --literal-pathspecs ls-files -z -c -- <"$OUT.forced.all" | sort -zu | comm -z -13 - "$OUT.forced.all" >"$OUT.forced"; }
}

# force_collisions TREE: what a restore of TREE would overwrite although a rule ignores it is captured too (C2). What can not be
# read stays out, and the restore finds it in its way.
force_collisions() {
  local path
  # A target that is not here yet has nothing to compare with.
  collisions "$1" 2>/dev/null || return 0
  [ -s "$OUT.forced" ] || return 0
  # What can not be read, and what is neither file nor link, stays a collision, and the restore is refused.
  existing <"$OUT.forced" | while IFS= read -r -d '' path; do
    if [ -L "$path" ] || [ -r "$path" ]; then printf '%s\0' "$path"; fi
  done | git update-index --add --replace -z --stdin 2>>"$OUT.err" || return 1
  TREE=$(git write-tree 2>>"$OUT.err")
}

# first_reason: the last thing git said, for a person.
first_reason() {
  local text
  text=$(cat "$OUT.add" "$OUT.err" "$OUT.find" 2>/dev/null | grep -E '^(fatal|error)|No space|denied' | tail -2 | tr '\n' ' ' | cut -c1-300)
  printf '%s' "${text:-git could not capture the repository}"
}
