# Looks after what restores put aside (put-aside.sh): which of it another process wrote, and what can be
# deleted.
# shellcheck shell=bash

# settle_asides: checks everything that is put aside, including what a killed run left. A file
# that equals the capture and is open nowhere is removed. All others stay and are reported.
settle_asides() {
  local place
  local -a places=("$HOME_DIR/aside-$SESSION"/*/*)
  SETTLED=()
  [ ${#places[@]} -eq 0 ] || { find_open && sum_few "${places[@]}" && SUMMED=1; }
  for place in "${places[@]}"; do
    settle "$place" >"$RUN/aside.one" 2>>"$RUN/aside.log" || emit aside "$place" >"$RUN/aside.one"
    pass_on "$RUN/aside.one" >>"$RUN/aside"
  done
  drop_settled
}

# drop_settled: removes the places SETTLED, and the directories that are empty by then. In each place
# the files go first, so that what a killed run leaves of it can be settled again.
drop_settled() {
  local all=$HOME_DIR/aside-$SESSION places
  [ -d "$all" ] || return 0
  places=("$all"/*/*)
  if [ ${#SETTLED[@]} = ${#places[@]} ]; then
    rm -rf -- "${SETTLED[@]/%//files}" "${SETTLED[@]}" "$all"
    return
  fi
  rm -rf -- "${SETTLED[@]/%//files}" "${SETTLED[@]}" "$all/mark" && rmdir --ignore-fail-on-non-empty -- "$all"/*/ "$all"
}

# holds PLACE: whether the place has files. A place that a killed run only began, or had nearly removed, has
# none.
holds() {
  local -a inside=("$1/files"/*)
  [ ${#inside[@]} -gt 0 ] || { [ -e "$1/files" ] && [ ! -r "$1/files" ]; }
}

# find_open: OPEN becomes the files put aside that a process holds open. OPEN_KNOWN is set when all processes
# were looked at: the last one in the search is this shell, which holds such a file open itself.
find_open() {
  local line mark=$HOME_DIR/aside-$SESSION/mark list=${OUT-$RUN/call}.open
  declare -gA OPEN=()
  OPEN_KNOWN=''
  : >"$mark" && exec 7<"$mark" || return 0
  glob_quote "$HOME_DIR/aside-$SESSION"
  find /proc/[0-9]*/fd "/proc/$BASHPID/fd" -lname "$TEXT/*" -printf '%l\0' >"$list" 2>/dev/null
  exec 7<&-
  while IFS= read -r -d '' line; do
    OPEN_KNOWN=''
    if [ "$line" = "$mark" ]; then OPEN_KNOWN=1; else OPEN[$line]=1; fi
  done <"$list"
}

# sum_few PLACE...: SUMS gets the content id, by path, of each file in these places that has an entry in
# `were`. One process serves all places of one format.
sum_few() {
  local place entry path
  local -A formats=()
  for place in "$RUN"/sum.*; do : >"$place"; done
  for place; do
    [ -f "$place/were" ] && line_of "$place/format" || continue
    formats[$TEXT]=1
    while IFS= read -r -d '' entry; do
      path=$place/files/${entry#*$'\t'}
      [ ! -f "$path" ] || [ -L "$path" ] || printf '%s\0' "$path"
    done <"$place/were" >>"$RUN/sum.$TEXT" || return
  done
  for entry in "${!formats[@]}"; do sum_files "$entry" || return; done
}

# sum_files FORMAT: SUMS gets the content ids of the files that $RUN/sum.FORMAT lists.
sum_files() {
  local n paths=() ids=() list=$RUN/sum.$1
  [ -s "$list" ] || return 0
  sums_git "$1" && mapfile -d '' -t paths <"$list" || return
  GIT_DIR=$GIT_OF with_paths git hash-object --no-filters -- >"$RUN/sums" 2>>"$RUN/aside.log" && mapfile -t ids <"$RUN/sums" && [ ${#ids[@]} = ${#paths[@]} ] || return
  for n in "${!paths[@]}"; do SUMS[${paths[n]}]=${ids[n]}; done
}

# with_paths COMMAND...: runs it with the paths in the array `paths`, in their order. Few paths need no xargs.
with_paths() {
  local file=${OUT-$RUN/call}.operands
  if [ ${#paths[@]} -le 100 ]; then "$@" "${paths[@]}"; else printf '%s\0' "${paths[@]}" >"$file" && xargs -0 "$@" <"$file"; fi
}
declare -A SUMS=()

# sums_git FORMAT: GIT_OF becomes an empty git directory of this call.
sums_git() {
  local version=0
  GIT_OF=$RUN/aside-$1
  [ ! -f "$GIT_OF/HEAD" ] || return 0
  [ -d "$GIT_OF/info" ] || mkdir -p -- "$GIT_OF/objects" "$GIT_OF/refs" "$GIT_OF/info" || return
  # As in the shadow, nothing is converted before it is compared.
  printf '* -text -filter -ident -working-tree-encoding -eol -crlf\n' >"$GIT_OF/info/attributes" || return
  [ "$1" = sha1 ] || version=1
  printf "[core]\n\trepositoryformatversion = %s\n\ttrustctime = false\n\tbare = false\n\tfilemode = true\n" $version >"$GIT_OF/config" || return
  [ "$1" = sha1 ] || printf "[extensions]\n\tobjectformat = sha256\n" >>"$GIT_OF/config" || return
  printf 'ref: refs/heads/none\n' >"$GIT_OF/HEAD"
}

# late_of_few PLACE: the array `late` of the caller gets the files whose content differs from the entries in
# `were`. A file without an entry was made there meanwhile.
late_of_few() {
  local place=$1 entry path mode id file
  local -A were=()
  while IFS= read -r -d '' entry; do were[${entry#*$'\t'}]=${entry%%$'\t'*}; done <"$place/were"
  for file in "$place/files"/$DEEP; do
    [ ! -d "$file" ] || [ -L "$file" ] || continue
    path=${file#"$place/files/"}
    mode=${were[$path]-}
    id=${mode#* } mode=${mode%% *}
    case $mode in
      100*)
        if [ -L "$file" ] || [ ! -f "$file" ] || [ "${SUMS[$file]-}" != "$id" ]; then
          late[$path]=1
        elif [ -x "$file" ]; then
          # Git looks only at the owner's bit.
          if [ "$mode" = 100644 ]; then
            TEXT=$(exec stat -c %a -- "$file") || return
            [ $((8#$TEXT & 0100)) = 0 ] || late[$path]=1
          fi
        elif [ "$mode" = 100755 ]; then
          late[$path]=1
        fi
        ;;
      *) late[$path]=1 ;;
    esac
  done
}

# same_links GIT PLACE: the array `same` of the caller gets the put-aside links of `listed` that equal the
# links in their index. When a link was made in the moment in which the index was written, git compares it
# with the object itself. That object is not in GIT, so git would call the link changed.
same_links() {
  local n path links=() paths=() targets=() ids=()
  local -A has=()
  for path in "${listed[@]}"; do [ ! -L "$2/files/$path" ] || links+=("$path"); done
  [ ${#links[@]} -gt 0 ] || return 0
  GIT_DIR=$1 GIT_INDEX_FILE=$2/index git -C "$2/files" --work-tree="$2/files" ls-files -s -z >"$RUN/aside.entries" || return
  while IFS= read -r -d '' path; do has[/${path#*$'\t'}]=${path%%$'\t'*}; done <"$RUN/aside.entries"
  for path in "${links[@]}"; do paths+=("$2/files/$path"); done
  # When one is gone by now, all count as changed.
  with_paths readlink -z -- >"$RUN/aside.targets" && mapfile -d '' -t targets <"$RUN/aside.targets" && [ ${#targets[@]} = ${#links[@]} ] || return 0
  mkdir -p -- "$RUN/aside.links" || return
  paths=()
  for n in "${!targets[@]}"; do printf '%s' "${targets[n]}" >"$RUN/aside.links/$n" && paths+=("$RUN/aside.links/$n") || return; done
  GIT_DIR=$1 with_paths git hash-object --no-filters -- >"$RUN/aside.ids" && mapfile -t ids <"$RUN/aside.ids" && [ ${#ids[@]} = ${#links[@]} ] || return
  for n in "${!links[@]}"; do [ "${has[/${links[n]}]-}" != "120000 ${ids[n]} 0" ] || same[/${links[n]}]=1; done
}

# late_in PLACE: the array `late` of the caller gets each path in a place that differs from the capture. A
# path whose content a checkpoint already holds is in `stored`, and has an empty value in the array.
late_in() {
  local place=$1 path line git
  [ -f "$place/late" ] && { [ -f "$place/were" ] || [ -f "$place/index" ]; } && line_of "$place/format" && sums_git "$TEXT" || return
  git=$GIT_OF
  while IFS= read -r -d '' path; do late[$path]=1; done <"$place/late"
  if [ -f "$place/were" ]; then
    [ -n "${SUMMED-}" ] || sum_few "$place" || return
    late_of_few "$place" || return
  else
    late_of_index || return
  fi
  for path in "${!late[@]}"; do
    [ -e "$place/files/$path" ] || [ -L "$place/files/$path" ] || late[$path]=''
  done
  [ -f "$place/stored" ] || return 0
  while IFS= read -r -d '' line; do
    path=${line#* }
    [ -n "${late[$path]-}" ] || continue
    if [ -L "$place/files/$path" ]; then
      TEXT=$(readlink -n -- "$place/files/$path" | GIT_DIR=$git git hash-object --stdin)
    else
      TEXT=$(GIT_DIR=$git git hash-object --no-filters -- "$place/files/$path")
    fi || return
    [ "$TEXT" != "${line%% *}" ] || late[$path]=''
  done <"$place/stored"
}

# late_of_index: the same for what differs from the place's index.
late_of_index() {
  local path listed=()
  local -A same=()
  # Most paths of the index are not here: git lists such a path twice, as deleted and as modified.
  GIT_DIR=$git GIT_WORK_TREE=$place/files GIT_INDEX_FILE=$place/index git -C "$place/files" ls-files -z -m -d -o | sort -z | uniq -zu >"$RUN/aside.list" || return
  mapfile -d '' -t listed <"$RUN/aside.list" && same_links "$git" "$place" || return
  for path in "${listed[@]}"; do
    # A path whose place a directory took is listed, and so are the files in that directory.
    { [ -d "$place/files/$path" ] && [ ! -L "$place/files/$path" ]; } || [ -n "${same[/$path]-}" ] || late[$path]=1
  done
}

# settle PLACE: reports on one place, and removes it when nothing in it is worth keeping.
settle() {
  local place=$1 path repository some=''
  local -A late=()
  if ! holds "$place"; then
    SETTLED+=("$place")
    return 0
  fi
  late_in "$place" && IFS= read -r -d '' repository <"$place/path" || return
  for path in "${!OPEN[@]}"; do [[ $path != "$place/files/"* ]] || some=1; done
  for path in "${!late[@]}"; do [ -z "${late[$path]}" ] || some=1; done
  if [ -z "$some" ] && [ -n "$OPEN_KNOWN" ]; then
    SETTLED+=("$place")
    return 0
  fi
  emit aside "$place/files"
  emit aside-repository "$repository"
  for path in "${!late[@]}"; do [ -z "${late[$path]}" ] || emit aside-late "$path"; done
  for path in "${!OPEN[@]}"; do [[ $path != "$place/files/"* ]] || emit aside-open "${path#"$place/files/"}"; done
}
