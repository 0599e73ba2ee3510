# Brings working files, their modes and empty directories from one capture to another. Every write is planned from two
# captures, never from a directory walk (C2).
# shellcheck shell=bash

# symlink_above PATH: whether a directory above PATH is a symlink. Nothing is written or deleted
# through a symlink.
symlink_above() {
  local parent=$1
  while [[ $parent == */* ]]; do
    parent=${parent%/*}
    [ ! -L "$parent" ] || return 0
  done
  return 1
}

# Up to so many files are looked at one by one where a whole index could be asked.
FEW_FILES=100

# move_files FROM TO: moves working files from one tree to the other, on the index that was just
# brought to FROM. Git writes the new files into a directory of ours. Existing files are put aside,
# and then each new file gets its name (place-new.sh).
move_files() {
  local i path links='' fields=() info=() old=() were=() new=() come=() gone=() WRITTEN REMOVED RULES_DIFFER ATTRIBUTES_DIFFER
  local -A seen=()
  EXCHANGED=''
  [ "$1" != "$2" ] || return 0
  changes "$1" "$2" 2>"$OUT.move" || return
  : >"$OUT.old"
  : >"$OUT.again"
  if [ ! -s "$SHADOW/changes.added" ] && [ "$REMOVED" = 0 ] && [ "$WRITTEN" -gt 50 ]; then
    # Files only change, and they are many: nothing needs to be looked at one by one.
    list_changed && write_over
    return
  fi
  mapfile -d '' -t fields <"$SHADOW/changes" || return
  for ((i = 0; i + 1 < ${#fields[@]}; i += 2)); do
    path=${fields[i + 1]}
    # :MODE MODE ID ID STATUS
    set -- ${fields[i]}
    info+=("$2 $4"$'\t'"$path")
    [ "$1" != :120000 ] || links=1
    if [ "$5" = A ]; then come+=("$path"); else old+=("$path") were+=("${1#:} $3"$'\t'"$path"); fi
    if [ "$5" != D ]; then
      new+=("$path")
      continue
    fi
    while [[ $path == */* ]]; do
      path=${path%/*}
      [ -z "${seen[$path]-}" ] || break
      seen[$path]=1 gone+=("$path")
    done
  done
  # What a link leads to is not asked of many links by one process, as the content of files is.
  [ -z "$links" ] || were=()
  list_into "$OUT.old" "${old[@]}" && list_into "$OUT.info" "${info[@]}" && list_into "$OUT.new" "${new[@]}" || return
  # The files that come back may be ignored by now, so the next capture checks the rules again.
  [ ${#come[@]} -eq 0 ] && [ "$RULES_DIFFER" = 0 ] || forget_rules || return
  write_over "${come[@]}" && drop_directories "${gone[@]}"
}

# list_changed: the lists of write_over where each file has another content.
list_changed() {
  if type -P perl >/dev/null; then
    perl -e '
      $/ = "\0"; open my $info, ">", $ARGV[0] and open my $old, ">", $ARGV[1] or die "cannot write: $!\n"; @ARGV = ();
      while (<STDIN>) {
        my ($mode, $id) = /^:[0-7]+ ([0-7]+) [0-9a-f]+ ([0-9a-f]+) [MT]\0$/ and defined(my $path = <STDIN>) or die "not a list of changes\n";
        print $info "$mode $id\t$path" and print $old $path or die "cannot write: $!\n";
      }
      close $info and close $old or die "cannot write: $!\n";' "$OUT.info" "$OUT.old" <"$SHADOW/changes" 2>>"$OUT.err" || return
  else
    sed -z 'N;s/^:[0-7]* \([0-7]*\) [0-9a-f]* \([0-9a-f]*\) [MT]\x00/\1 \2\t/' "$SHADOW/changes" >"$OUT.info" && sed -nz 'n;p' "$SHADOW/changes" >"$OUT.old" || return
  fi
  pass_on "$OUT.old" >"$OUT.new"
}

# write_over [PATH...]: lets git write the files in $OUT.new into a directory of ours, puts those in
# $OUT.old aside, and gives the new ones their names. $OUT.info has the entries of the index. The
# paths are those that had no file before. The array `were` has the entries of the old files, when
# they are few. EXCHANGED tells that few plain files each took the place of one.
write_over() {
  local exchange='' status=3
  [ ${#were[@]} -le $FEW_FILES ] || were=()
  [ ! -s "$OUT.old" ] || aside_place "$OUT.company" "${were[@]}" || return
  STAGE=$SHADOW/stage
  # Each old file has a new one: both are done at once, and what cannot be, below.
  [ "$REMOVED" != 0 ] || [ $# != 0 ] || ! type -P perl >/dev/null || exchange=1
  if [ -n "$exchange" ] && [ ${#were[@]} -gt 0 ] && [ -f "$OUT.contents.whole" ]; then
    status=0
    put_aside "$OUT.old" "$STAGE" lenient "$OUT.contents" "$OUT.info" || status=$?
    [ $status = 0 ] || [ $status = 3 ] || return $status
  fi
  enter_new $status || return
  if [ $status = 3 ]; then
    [ ! -s "$OUT.new" ] || stage_new || return
    [ -z "$exchange" ] || put_aside "$OUT.old" "$STAGE" lenient || return
  fi
  if [ -n "$exchange" ]; then
    if [ -e "$STAGE" ]; then
      place_new
    elif [ -s "$OUT.groups" ]; then
      inherit_groups
    else
      [ $status = 3 ] || EXCHANGED=1
    fi
    return
  fi
  put_aside "$OUT.old" || return
  [ -s "$OUT.new" ] || return 0
  clear_way "$@" && place_new
}

# enter_new STATUS: gives the index the new files. When all of them are in place (STATUS 0), git reads them there,
# so that the next capture finds the index up to date. What is in place is proven later in any case.
enter_new() {
  local status=0
  if [ "$1" = 0 ] && [ ! -e "$STAGE" ]; then
    git update-index -z --stdin <"$OUT.old" 2>"$OUT.entered" || status=$?
    ! ended $status || return $status
    [ $status != 0 ] || [ -s "$OUT.entered" ] || return 0
  fi
  git update-index --replace -z --index-info <"$OUT.info" 2>>"$OUT.move"
}

# clear_way PATH...: clears a directory that stands in the way of a file. Its captured files are
# already aside, so it is removed if it holds nothing else.
clear_way() {
  local path
  for path; do
    [ -d "$path" ] && [ ! -L "$path" ] || continue
    find "./$path" -depth -type d -empty -delete 2>>"$OUT.err" || return
  done
}

# drop_directories PATH...: removes the directories that the move left empty, except those that
# the target has empty. This runs after the files are written. So a directory that both captures
# have stays the same one, because a process may have it as its working directory.
drop_directories() {
  local path left=()
  for path; do
    [ -n "${WANTED[$path]-}" ] || [ -L "$path" ] || [ ! -d "$path" ] || symlink_above "$path" || left+=("$path")
  done
  [ ${#left[@]} -gt 0 ] || return 0
  : >"$RUN/dropped"
  printf '%s\0' "${left[@]}" >"$OUT.operands" && sort -zr -o "$OUT.operands" -- "$OUT.operands" && xargs -0 rmdir --ignore-fail-on-non-empty -- <"$OUT.operands" 2>>"$OUT.err"
}

# old_part META NAME STRIP: writes the modes or empty directories to remove into $OUT.NAME.old.
# Paths that the target's rules ignore stay as they are.
old_part() {
  free_part "$1" "$2" "$OUT.$2.old" || return
  [ "${RULES_DIFFER-0}" = 0 ] || drop_ignored "$OUT.$2.old" "$3"
}

# want_empty META: WANTED names the directories that a capture has empty.
want_empty() {
  local path
  declare -gA WANTED=()
  ! plain "$1" || return 0
  free_part "$1" empty "$OUT.empty-of" || return
  while IFS= read -r -d '' path; do WANTED[$path]=1; done <"$OUT.empty-of"
}

# drop_empty META: removes the empty directories of a capture, and the directories above that held
# nothing else. rmdir removes only empty ones. The global WANTED names the ones to keep.
drop_empty() {
  local path
  [ -n "$1" ] || return 0
  old_part "$1" empty 0 || return
  [ -s "$OUT.empty.old" ] || return 0
  sort -zr "$OUT.empty.old" >"$OUT.empty.sorted" || return
  while IFS= read -r -d '' path; do
    symlink_above "$path" && continue
    while [ -z "${WANTED[$path]-}" ] && [ -d "$path" ] && [ ! -L "$path" ] && is_empty "$path"; do
      : >"$RUN/dropped"
      rmdir -- "$path" 2>>"$OUT.err" || return
      [[ $path == */* ]] || break
      path=${path%/*}
    done
  done <"$OUT.empty.sorted"
}

# is_empty DIRECTORY: whether it is empty, as far as can be seen.
is_empty() {
  local inside=("$1"/*)
  [ -r "$1" ] && [ ${#inside[@]} -eq 0 ]
}

# ignored_by TREE LIST KEPT [GIT_DIR]: writes the paths of a list that the rules in a tree ignore
# into another list. GIT_DIR has the rules beside the tree, where they are not those of the
# repository being worked on.
ignored_by() {
  local rules=$OUT.rules path found=()
  rm -rf -- "$rules" "$rules.index" && mkdir -p -- "$rules" || return
  GIT_INDEX_FILE=$rules.index git read-tree "$1" && git ls-tree -r -z --name-only "$1" >"$rules.names" || return
  while IFS= read -r -d '' path; do [[ /$path != */.gitignore ]] || found+=("$path"); done <"$rules.names"
  if [ ${#found[@]} -gt 0 ]; then
    printf '%s\0' "${found[@]}" >"$rules.names" && GIT_INDEX_FILE=$rules.index git checkout-index -f -z --stdin --prefix="$rules/" <"$rules.names" || return
  fi
  (cd -- "$rules" && GIT_DIR=${4-$GIT_DIR} GIT_WORK_TREE=$rules GIT_INDEX_FILE=$rules.index check_ignore "$2" "$3")
}

# check_ignore LIST KEPT: writes the paths of a list that git's rules ignore into another list. An
# exit of 1 means that they ignore nothing.
check_ignore() {
  local status=0
  git check-ignore --no-index -z --stdin <"$1" >"$2" 2>"$2.said" || status=$?
  [ $status = 0 ] || { [ $status = 1 ] && [ ! -s "$2" ] && [ ! -s "$2.said" ]; } || return $status
}

# leave_alone LIST: takes paths off the plan: they leave the index, and stay on disk. FROM_TREE is
# the remaining tree.
leave_alone() {
  [ -s "$1" ] || return 0
  git update-index --force-remove -z --stdin <"$1" && FROM_TREE=$(exec git write-tree)
}

# find_kept FROM TO: lists in $OUT.kept the files that the target does not have but that stay. A
# file that the target's own rules ignore, or that was too large for it, may have existed then,
# unseen. A file that the present rules ignore must not be deleted. The exception is a file that
# was captured although it is ignored, because the host tracks it or the session asks for it by
# name.
find_kept() {
  local path
  local above
  local -A goes=() stays=() added=()
  : >"$OUT.kept"
  changes "$1" "$2" || return
  [ -s "$SHADOW/changes.removed" ] || return 0
  for path in "${R_SKIPPED[@]}"; do [ "${path%%:*}" != "$INDEX" ] || stays[${path#*:}]='was too large for it'; done
  # The host state has all of them, the request only the first.
  part "${R_META[INDEX]}" left-out "$OUT.left.then" || return
  while IFS= read -r -d '' path; do stays[$path]='was too large for it'; done <"$OUT.left.then"
  if [ ${#HELD_THEN[@]} -gt 0 ]; then
    while IFS= read -r -d '' path; do
      for above in "${HELD_THEN[@]}"; do [[ $path != "$above"/* ]] || stays[$path]=held; done
    done <"$SHADOW/changes.removed"
  fi
  if [ "$RULES_DIFFER" = 1 ]; then
    ignored_by "$2" "$SHADOW/changes.removed" "$OUT.kept.then" || return
    while IFS= read -r -d '' path; do stays[$path]='its rules ignore it'; done <"$OUT.kept.then"
  fi
  check_ignore "$SHADOW/changes.removed" "$OUT.kept.now" || return
  if [ -s "$OUT.kept.now" ]; then
    [ ! -f "$SHADOW/tracked-ignored" ] || while IFS= read -r -d '' path; do goes[$path]=1; done <"$SHADOW/tracked-ignored"
    if [ ${#INCLUDE[@]} -gt 0 ]; then
      git --glob-pathspecs ls-files -z -c -- "${INCLUDE[@]}" >"$OUT.included" || return
      while IFS= read -r -d '' path; do goes[$path]=1; done <"$OUT.included"
    fi
    while IFS= read -r -d '' path; do [ -n "${goes[$path]-}" ] || stays[$path]='the rules of now ignore it'; done <"$OUT.kept.now"
  fi
  [ ${#stays[@]} -gt 0 ] || return 0
  # A path in the way of the target was captured for this purpose: a file where the target has a
  # directory, or the reverse.
  while IFS= read -r -d '' path; do
    added[$path]=1
    while [[ $path == */* ]]; do path=${path%/*} && stays[$path]=''; done
  done <"$SHADOW/changes.added"
  while IFS= read -r -d '' path; do
    [ -n "${stays[$path]-}" ] || continue
    above=$path
    while [[ $above == */* ]]; do above=${above%/*} && [ -z "${added[$above]-}" ] || continue 2; done
    printf '%s\0' "$path" >&3
    # Said once for the whole directory (tell_held).
    [ "${stays[$path]}" != held ] || continue
    printf '%s stays, although the checkpoint does not have it: %s\0' "$path" "${stays[$path]}"
  done <"$SHADOW/changes.removed" 3>"$OUT.kept" >"$OUT.warn.kept"
}

# keep_unseen FROM TO: takes these files off the plan and out of the proof.
keep_unseen() {
  FROM_TREE=$1
  find_kept "$1" "$2" || return
  [ -s "$OUT.kept" ] || return 0
  pass_on "$OUT.kept" >>"$OUT.unseen"
  leave_alone "$OUT.kept"
}

# list_unseen: lists, before older rules come, the paths that only the present rules ignore. They
# are not part of the target, and the restore does not touch them. A directory that holds nothing
# else is one line, which ends with a slash.
list_unseen() {
  git ls-files -z -o -i --exclude-standard --directory >"$OUT.unseen.all" 2>>"$OUT.err" || return
  sed -z '/^\.agent-shadow\/$/d' "$OUT.unseen.all" >"$OUT.unseen"
}

# unseen_rules: UNSEEN_RULES are patterns for these paths, so that the proof of the target does
# not read all of them.
unseen_rules() {
  local path paths=()
  UNSEEN_RULES=''
  mapfile -d '' -t paths <"$OUT.unseen" || return
  [ ${#paths[@]} -le 2000 ] || return 0
  for path in "${paths[@]}"; do
    pattern_for "${path%/}"
    [ "$path" = "${path%/}" ] || PATTERN+=/
    UNSEEN_RULES+=$PATTERN$'\n'
  done
}

# loosen META: gives directories that were captured without write permission that permission
# during the restore. Afterwards the target's sidecar sets their modes.
loosen() {
  local entry mode
  ! plain "$1" || return 0
  free_part "$1" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    [[ $entry == D* ]] || continue
    mode=${entry%%/*} entry=${entry#*/}
    [ $((8#${mode#D} & 0300)) = 192 ] || [ -L "$entry" ] || symlink_above "$entry" || [ ! -d "$entry" ] || chmod u+rwx -- "$entry" 2>>"$OUT.err" || return
  done <"$OUT.modes-of"
}

# move_sidecar FROM_META TO_META I: applies modes and empty directories, by the difference of two
# captures. WANTED belongs to the target.
move_sidecar() {
  local from=$1 to=$2 entry path mode plain=$1
  local -A keep=()
  [ -z "$VACATED" ] || plain=''
  [ "$from" != "$to" ] || [ -n "$VACATED" ] || ! plain "$to" || return 0
  for path in modes empty; do
    part_id "$from" $path || return
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
    part_id "$to" $path || return
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
  done
  [ -z "$plain" ] || return 0
  drop_empty "$from" || return
  for path in "${!WANTED[@]}"; do
    symlink_above "$path" || [ -d "$path" ] || mkdir -p -- "$path" 2>>"$OUT.err" || return
  done
  free_part "$to" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    [[ $entry == U* ]] || keep[${entry#*/}]=${entry%%/*}
  done <"$OUT.modes-of"
  if [ -n "$VACATED" ]; then modes_here "$3"; else old_part "$from" modes 1; fi || return
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    if [[ $entry == U* ]] || [ -n "${keep[$path]-}" ] || [ -L "$path" ] || symlink_above "$path"; then continue; fi
    if [ -d "$path" ]; then
      chmod "$EXEC_MODE" -- "$path" || return
    elif [ -f "$path" ]; then
      if [ -x "$path" ]; then chmod "$EXEC_MODE" -- "$path"; else chmod "$FILE_MODE" -- "$path"; fi || return
    fi
  done <"$OUT.modes.old"
  [ ${#keep[@]} -gt 0 ] || return 0
  # Files first, then directories from the deepest up, because a directory may lose the bit needed
  # to pass through it.
  for path in "${!keep[@]}"; do
    mode=${keep[$path]}
    if [[ $mode == F* ]] && [ -f "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#F}" -- "$path" || return; fi
  done
  printf '%s\0' "${!keep[@]}" >"$OUT.keep" && sort -zr "$OUT.keep" >"$OUT.keep.sorted" || return
  while IFS= read -r -d '' path; do
    mode=${keep[$path]}
    if [[ $mode == D* ]] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#D}" -- "$path" || return; fi
  done <"$OUT.keep.sorted"
}

# apply_umask META: gives new files the modes that the capture took as the default and did not
# list.
apply_umask() {
  local entry
  umask 022
  UMASK=0022
  new_file_modes
  ! plain "$1" || return 0
  part "$1" modes "$OUT.modes-of" || return
  while IFS= read -r -d '' entry; do
    case $entry in U*) umask "${entry:1:$((${#entry} - 2))}" ;; esac
  done <"$OUT.modes-of"
  read_umask
}
