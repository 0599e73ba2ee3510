# Moves the host's index: staged and conflicted entries, flags, and which files git need not read
# again.
# shellcheck shell=bash

# move_index META NOW_META: brings the index to a captured state. Stat data of equal entries is kept.
move_index() {
  local to=$1 from=$2 name same=1 stage tree
  for name in index stage1 stage2 stage3 index-flags; do
    same_part "$to" "$from" "$name" || return
    [ -n "$SAME" ] || same=0
  done
  if [ $same = 1 ]; then
    refresh_index
    return
  fi
  free_lock "$HG/index.lock" || { printf 'fatal: another git process holds index.lock\n' >>"$OUT.err" && return 1; }
  part_id "$to" index || return
  tree=$ID
  if [ -z "$tree" ]; then
    rm -f -- "$HG/index"
    return
  fi
  local new=$SHADOW/new-host-index
  rm -f -- "$new" "$new.lock" || return
  # Flags would stay on unchanged entries, so an index with flags is built from nothing.
  part_id "$from" index-flags || return
  if [ -f "$SHADOW/host-index" ] && [ -z "$ID" ]; then
    cp -p -- "$SHADOW/host-index" "$new" || return
  elif [ ! -f "$SHADOW/host-index" ]; then
    # The index is new. What our index knows about the files also holds for the host's.
    cp -p -- "$SHADOW/index" "$new" || return
  fi
  # A sparse or split index of the host becomes a plain one here; git converts it back when it wants to.
  if [ "$tree" = "$EMPTY" ]; then
    # Git would note the empty tree in the index, and the host's repository may not have that tree. Adding an
    # entry and removing it leaves no note.
    rm -f -- "$new" && printf '100644 %s\tx\n0 %s\tx\n' "$EMPTY_BLOB" "$ZERO_ID" | GIT_INDEX_FILE=$new git update-index --index-info 2>>"$OUT.err" || return
  else
    GIT_INDEX_FILE=$new git read-tree --reset "$tree" 2>"$OUT.index" || {
      rm -f -- "$new" && GIT_INDEX_FILE=$new git read-tree "$tree" 2>>"$OUT.err" || return
    }
  fi
  for stage in 1 2 3; do
    part_id "$to" stage$stage || return
    [ -n "$ID" ] || continue
    git ls-tree -r -z "$ID" >"$OUT.stage" 2>>"$OUT.err" && sed -z "s/^\([0-7]*\) [a-z]* \([0-9a-f]*\)\t/\1 \2 $stage\t/" "$OUT.stage" >"$OUT.staged" || return
    GIT_INDEX_FILE=$new git update-index -z --index-info <"$OUT.staged" 2>>"$OUT.err" || return
  done
  part "$to" index-flags "$OUT.flags" && flag_entries "$new" || return
  restat "$new" && converted || return
  [ -z "$CONVERTED" ] || forget_sizes "$new" || return
  rm -f -- "$new.lock" && put_index "$new"
}

# put_index FILE: follows git's own protocol: takes the lock, then renames it over the index. It keeps the
# file's time, from which git knows which files may have changed since.
put_index() {
  (set -C && : >"$HG/index.lock") 2>>"$OUT.err" || return
  cp --preserve=timestamps -- "$1" "$HG/index.lock" && mv -f -- "$HG/index.lock" "$HG/index" || {
    local status=$?
    rm -f -- "$HG/index.lock"
    return $status
  }
  rm -f -- "$1"
}

# flag_entries FILE: sets the flags in $OUT.flags in an index: lower case for assume-unchanged, s for
# skip-worktree, N for intent to add, and X or L when that entry is executable or a link.
flag_entries() {
  local entry assumed=() skipped=() meant=() usual=() executable=() paths=() place=$OUT.meant
  local -A kind=()
  [ -s "$OUT.flags" ] || return 0
  while IFS= read -r -d '' entry; do
    case $entry in
      'N '*) meant+=("${entry:2}") ;;
      'X '* | 'L '*) meant+=("${entry:2}") && kind[${entry:2}]=${entry:0:1} ;;
      [a-z]*) assumed+=("${entry:2}") ;;&
      [sS]*) skipped+=("${entry:2}") ;;
    esac
  done <"$OUT.flags"
  local -x GIT_INDEX_FILE=$1
  # Written into files, because git may end before it has read everything.
  if [ ${#meant[@]} -gt 0 ]; then
    # git adds an intent only for an existing file. So an empty file is made in another directory, independent
    # of what is at that path here.
    rm -rf -- "$place" && mkdir -p -- "$place" || return
    for entry in "${meant[@]}"; do
      # Beside a conflict, an entry may be listed twice.
      [ ! -e "$place/$entry" ] && [ ! -L "$place/$entry" ] || continue
      [[ $entry != */* ]] || [ -d "$place/${entry%/*}" ] || mkdir -p -- "$place/${entry%/*}" || return
      case ${kind[$entry]-} in
        L) ln -s -- "$entry" "$place/$entry" || return ;;
        X) : >"$place/$entry" && executable+=("$place/$entry") || return ;;
        *) : >"$place/$entry" && usual+=("$place/$entry") || return ;;
      esac
    done
    paths=("${usual[@]}")
    [ ${#paths[@]} -eq 0 ] || with_paths chmod 644 -- || return
    paths=("${executable[@]}")
    [ ${#paths[@]} -eq 0 ] || with_paths chmod 755 -- || return
    printf '%s\0' "${meant[@]}" >"$OUT.list" || return
    # These name the empty blob, which no bundle needs to hold.
    env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" hash-object -w --stdin </dev/null >/dev/null 2>>"$OUT.err" || return
    (cd -- "$place" && GIT_WORK_TREE=$place xargs -0 git --literal-pathspecs add -N -f -- <"$OUT.list" 2>>"$OUT.err") || return
  fi
  if [ ${#assumed[@]} -gt 0 ]; then
    printf '%s\0' "${assumed[@]}" >"$OUT.list" && git update-index --assume-unchanged -z --stdin <"$OUT.list" 2>>"$OUT.err" || return
  fi
  [ ${#skipped[@]} -gt 0 ] || return 0
  printf '%s\0' "${skipped[@]}" >"$OUT.list" && git update-index --skip-worktree -z --stdin <"$OUT.list" 2>>"$OUT.err"
}

# convertible: CONVERTIBLE is set when the host's git may take a file for modified although it holds the exact
# bytes of its entry. This happens when attributes or settings convert.
convertible() {
  CONVERTIBLE=1
  ! settings_convert || return 0
  # A tree without attributes below its top is remembered, and so is the tree that a restore makes from it.
  if line_of "$SHADOW/attributes" && { [ "$TEXT" = "$GOAL none" ] || { [ "$TEXT" = "$FROM_TREE none" ] && line_of "$SHADOW/changes.of" && [[ $TEXT == "$FROM_TREE $GOAL "*' 0 end' ]]; }; }; then
    CONVERTIBLE=''
  else
    git ls-files -- '*/.gitattributes' >"$OUT.attributes" 2>>"$OUT.err" || return
    [ ! -s "$OUT.attributes" ] || return 0
    CONVERTIBLE=''
  fi
  printf '%s none\n' "$GOAL" >"$SHADOW/attributes"
}

# converted: CONVERTED is set when the host's index may have noted the sizes of files that git converted.
converted() {
  CONVERTED=''
  convertible || return
  [ -z "$CONVERTIBLE" ] && [ "$ATTRIBUTES_DIFFER" = 0 ] && [ ! -e "$SHADOW/converted" ] || CONVERTED=1
}

# restat FILE [PATH...]: notes in an index the times of all files, or of these, that hold the exact bytes of
# their entry. Without this, git would take them for changed until somebody asks for its status. It uses our
# own attributes, which convert nothing, so no filter of the user's runs. The host's git will look at the
# other files itself.
restat() {
  local status=0
  local -x GIT_INDEX_FILE=$1
  shift
  if [ $# -gt 0 ]; then
    git --literal-pathspecs add --refresh -- "$@" >/dev/null 2>"$OUT.index" || status=$?
    ! ended $status || return $status
    [ $status != 0 ] || return 0
    # One of them is not in the index, so git has written nothing.
    status=0
  fi
  git update-index -q --unmerged --refresh >/dev/null 2>"$OUT.index" || status=$?
  [ $status -le 1 ] || { cat -- "$OUT.index" >>"$OUT.err" && return $status; }
}

# forget_sizes FILE: git takes a file for changed when its size differs from the one in the index, without
# checking whether it converts to the entry. So the notes about such a file are removed, and the host's git
# will look at it.
forget_sizes() {
  local -x GIT_INDEX_FILE=$1
  git ls-files -m -s -v -z >"$OUT.entries" 2>>"$OUT.err" && perhaps grep -zE $'^C 100[0-7]+ [0-9a-f]+ 0\t' "$OUT.entries" >"$OUT.stale" || return
  # An entry that is only meant to be added names the empty blob. Neither it nor an empty file has a size
  # noted.
  perhaps grep -zvF " $EMPTY_BLOB " "$OUT.stale" >"$OUT.entries" || return
  [ -s "$OUT.entries" ] || return 0
  cut -z -c3- "$OUT.entries" >"$OUT.stale" && git update-index -z --index-info <"$OUT.stale" 2>>"$OUT.err"
}

# in_operation: whether the host is in the middle of a merge, a pick or a rebase. Git ends these only when the
# index knows the files.
in_operation() {
  local name
  for name in MERGE_HEAD MERGE_MSG CHERRY_PICK_HEAD REVERT_HEAD "${STATE_DIRS[@]}"; do [ ! -e "$HG/$name" ] || return 0; done
  return 1
}

# refresh_index: notes the times (restat) when files were written but the index already matches the target,
# and git would not find out by itself. It works on the index itself, under its lock, because our copy names
# trees that only the shadow has. Our copy gets the index's time, because the entries are the same, so the
# next capture reads nothing again. This happens before the lock is given up, so that a later write of another
# process gets another time.
refresh_index() {
  [ -s "$OUT.new" ] && [ -f "$HG/index" ] || return 0
  converted || return
  if [ -n "$CONVERTED" ] || in_operation; then refresh_now; fi
}

refresh_now() {
  local paths=() lock=$HG/index.lock status=0 known=''
  mapfile -d '' -n $((FEW_FILES + 1)) -t paths <"$OUT.new" || return
  [ ${#paths[@]} -le $FEW_FILES ] || paths=()
  # Another process works with the index. Git itself would skip the refresh too.
  free_lock "$lock" && (set -C && : >"$lock") 2>/dev/null || return 0
  [ ! -e "$lock.lock" ] || rm -f -- "$lock.lock" || status=$?
  if [ $status = 0 ]; then
    ! host_index_known || known=1
    cp -p -- "$HG/index" "$lock" && restat "$lock" "${paths[@]}" && { [ -z "$CONVERTED" ] || forget_sizes "$lock"; } \
      && { [ -z "$known" ] || { touch -r "$lock" -- "$SHADOW/host-index" && : >"$SHADOW/host-index.mark"; }; } && mv -f -- "$lock" "$HG/index" || status=$?
  fi
  [ ! -e "$lock" ] || rm -f -- "$lock" "$lock.lock" || return
  return $status
}
