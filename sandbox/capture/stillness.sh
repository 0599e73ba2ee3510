# Finds out whether a repository is still as a capture found it, with one walk and without git. The capture of
# a rollback notes when its look began. Each change since then has given a file or a directory a later change
# time (ctime), which the system sets and no process can set. When this cannot be relied on, or anything
# changed, the answer is no, and the caller looks with git.
# shellcheck shell=bash

# Microseconds. A change so shortly before the look counts as later. It is more than one tick of the file
# system's clock plus the largest step that clock_offset may miss.
STILL_MARGIN=60000
LATEST_MARK=15000
UNSEEN_STEP=12000

# clock_offset: MICROSECONDS becomes the time since the epoch, and OFFSET how far this is ahead of the time
# since the machine started. Nobody can set the latter, so another offset means that the clock was set. It is
# exact to a hundredth of a second. Both are read at once, or else once more.
clock_offset() {
  local began up tries
  for tries in 1 2 3 4; do
    stopwatch
    began=$MICROSECONDS
    [[ -r /proc/uptime ]] && read -r up _ </proc/uptime && [[ $up == *.?? && $began != 0 ]] || return
    stopwatch
    OFFSET=$((MICROSECONDS - 10#${up/./} * 10000))
    [ $((MICROSECONDS - began)) -ge 5000 ] || return 0
  done
  return 1
}

# times_tell: whether change times tell what happened after this look began. They do when the look's mark has
# a time after LATEST (otherwise the clocks of file system and machine disagree) with a fraction of a second.
# Where times are whole seconds (ext4 with small inodes, ext3, FAT), a file that is written after a look may
# have an earlier time than the look. The file whole-seconds notes that times are whole seconds.
times_tell() {
  [ -n "$LATEST" ] && slurp "$OUT.mark" && [ -n "$TEXT" ] || return
  [[ $TEXT == *.*[1-9]* ]] || { : >"$SHADOW/whole-seconds" && return 1; }
  [[ $TEXT == *late ]]
}

# still TARGET TREE META: whether the repository is still as the look of that capture found it. Then TREE and
# META are set, and the lists of the look exist.
still() {
  local tree meta target at latest offset last
  read -r tree meta target at latest offset last <"$SHADOW/looked" || return
  [ "$target" != - ] || target=$1
  [ "$tree $meta $target $last" = "$2 $3 $1 end" ] && clock_offset || return
  offset=$((OFFSET - offset))
  [ "${offset#-}" -le $UNSEEN_STEP ] && [ -n "$HG" ] && [ "$HEAD_KIND" != unreadable ] || return
  RULES_NEW='' HOST_INDEX_NEW='' FORCED=''
  borrow_host && known_index_tree && [ "$TREE" = "$tree" ] && write_excludes "${NESTED[@]}" "${HELD[@]}" && [ -z "$RULES_NEW" ] && [ -f "$SHADOW/rules-seen" ] && [ ! -s "$SHADOW/rules-seen" ] && host_index_known && host_key || return
  slurp "$SHADOW/looked"
  [ "${TEXT#*$'\n'}" = "$HOST_KEY" ] && no_mounts && untouched "$at" "$latest" || return
  pass_on "$SHADOW/looked.modes" >"$OUT.modes" && pass_on "$SHADOW/looked.empty" >"$OUT.empty" && : >"$OUT.left-out" && : >"$OUT.report" || return
  META=$meta
}

# read_mounts: MOUNTED becomes the system's list of mounts. Read once per call.
read_mounts() {
  slurp /proc/self/mountinfo
  MOUNTED=$TEXT
}

# no_mounts: whether no other file system, whose clock may differ, is mounted inside. The system's list writes
# some bytes of names differently.
no_mounts() { [[ $PWD != *[$' \t\n\\']* && -n $MOUNTED && $MOUNTED != *" $PWD/"* ]]; }

# untouched AT LATEST: whether nothing here has a change time after AT, except for the mark. The mark must
# have one after LATEST, which shows that the clocks of file system and machine agree.
untouched() {
  local at latest
  known_ignored || return
  find_time "$1" && at=$TEXT && find_time "$2" && latest=$TEXT || return
  find "./.agent-shadow/session-$SESSION/looked.mark" . \( -path ./.git -o -path ./.agent-shadow "${PRUNE[@]}" \) -prune \
    -o -path './.agent-shadow/*' -newerct "$latest" -printf mark -o -newerct "$at" -printf touched -quit >"$OUT.touched-since" 2>"$OUT.find" || return
  slurp "$OUT.touched-since"
  [ "$TEXT" = mark ] && [ ! -s "$OUT.find" ]
}

# find_time MICROSECONDS: TEXT becomes the time in the form that find reads.
find_time() { printf -v TEXT '@%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)); }

# note_moved FROM TO: after a restore that moved only files, makes the note of the look valid for TO: what the
# restore wrote has later change times than everything else.
note_moved() {
  local tree meta times
  line_of "$SHADOW/looked" && read -r tree meta _ times <<<"$TEXT" && [ "$tree" = "$1" ] && [[ $times == *' end' || $times == *' some' ]] || return 0
  slurp "$SHADOW/looked"
  printf '%s %s - %s\n%s' "$2" "$meta" "$times" "${TEXT#*$'\n'}" >"$SHADOW/looked" || return
  [ -s "$SHADOW/changes.added" ] || [ -s "$SHADOW/changes.removed" ] || names_stay "$1" "$2"
}

# names_stay FROM TO: makes the known names (names_of) those of the tree TO, which has the same names in these
# directories. Only kinds and names of the entries are read.
names_stay() {
  slurp "$SHADOW/names.of"
  [[ $TEXT != "$1/./"* ]] || printf '%s' "$2${TEXT#"$1"}" >"$SHADOW/names.of"
}
