# Brings working files from one capture to another. Every write is planned from two
# captures, never from a directory walk (C2).
# shellcheck shell=bash

# Up to this many files are looked at one by one; for more, the whole index is asked.
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
  # The targets of many links cannot be read by one process, as the contents of files can.
  [ -z "$links" ] || were=()
  list_into "$OUT.old" "${old[@]}" && list_into "$OUT.info" "${info[@]}" && list_into "$OUT.new" "${new[@]}" || return
  # Files that come back may be ignored by now, so the next capture checks the rules again.
  [ ${#come[@]} -eq 0 ] && [ "$RULES_DIFFER" = 0 ] || forget_rules || return
  write_over "${come[@]}" && drop_directories "${gone[@]}"
}

# list_changed: makes the lists for write_over when each file only changes its content.
list_changed() {
  if type -P perl >/dev/null; then
    perl -e '
      $/ = "\0"; my ($info, $old, $new) = map { open my $list, ">", $_ or die "cannot write: $!\n"; $list } splice @ARGV;
      while (<STDIN>) {
        my ($mode, $id) = /^:[0-7]+ ([0-7]+) [0-9a-f]+ ([0-9a-f]+) [MT]\0$/ and defined(my $path = <STDIN>) or die "not a list of changes\n";
        print $info "$mode $id\t$path" and print $old $path and print $new $path or die "cannot write: $!\n";
      }
      close $info and close $old and close $new or die "cannot write: $!\n";' "$OUT.info" "$OUT.old" "$OUT.new" <"$SHADOW/changes" 2>>"$OUT.err"
  else
    sed -z 'N;s/^:[0-7]* \([0-7]*\) [0-9a-f]* \([0-9a-f]*\) [MT]\x00/\1 \2\t/' "$SHADOW/changes" >"$OUT.info" && sed -nz 'n;p' "$SHADOW/changes" >"$OUT.old" && cat -- "$OUT.old" >"$OUT.new"
  fi
}

# write_over [PATH...]: lets git write the files in $OUT.new into a directory of ours, puts those in $OUT.old
# aside, and gives the new ones their names. $OUT.info has the entries of the index. PATHs are those that had
# no file before. When they are few, the array `were` has the entries of the old files. EXCHANGED is set when
# only a few plain files were replaced, each by one file.
write_over() {
  local exchange='' status=3
  [ ${#were[@]} -le $FEW_FILES ] || were=()
  [ ! -s "$OUT.old" ] || aside_place "$OUT.company" "${were[@]}" || return
  touch_it || return
  STAGE=$SHADOW/stage
  # Each old file has a new one, so both steps are done at once. What fails is done below.
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

# enter_new STATUS: puts the new files into the index. When all of them are in place (STATUS 0), git reads
# them there, so that the next capture finds the index up to date. The files in place are proved later in any
# case.
enter_new() {
  local status=0
  if [ "$1" = 0 ] && [ ! -e "$STAGE" ]; then
    git update-index -z --stdin <"$OUT.old" 2>"$OUT.entered" || status=$?
    ! ended $status || return $status
    [ $status != 0 ] || [ -s "$OUT.entered" ] || return 0
  fi
  git update-index --replace -z --index-info <"$OUT.info" 2>>"$OUT.move"
}

# clear_way PATH...: clears directories that stand in the way of files. Their captured files are
# already aside, so each is removed if it holds nothing else.
clear_way() {
  local path paths=()
  for path; do [ ! -d "$path" ] || [ -L "$path" ] || paths+=("./$path"); done
  [ ${#paths[@]} -eq 0 ] || with_paths sh -c 'exec find "$@" -depth -type d -empty -delete' find 2>>"$OUT.err"
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
