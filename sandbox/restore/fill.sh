# Fills a repository's place when nothing is there. Git writes all files into a directory of ours, where
# nobody else writes, and they are proved there. Then each top-level directory gets its name in one step.
# shellcheck shell=bash

# A repository with at least this many files is written by several processes.
MANY_FILES=2000

# vacant: whether nothing stands here but our own directory and a .git.
vacant() {
  local entry
  [ -r . ] || return
  for entry in *; do case $entry in .git | .agent-shadow) ;; *) return 1 ;; esac done
}

# workers: WORKERS becomes the number of processes that one of the new repositories may use, so that all
# together hardly exceed the number of processors.
workers() {
  local i count=0
  for i in "${!R_PATH[@]}"; do [ -z "${R_TREE[i]}" ] || [ -n "${R_NOW_TREE[i]}" ] || count=$((count + 1)); done
  [ $count -gt 0 ] || count=1
  WORKERS=$((PROCESSORS / count))
  [ $WORKERS -gt 0 ] || WORKERS=1
}

# fill TREE: writes, proves and places all files of a tree. Afterwards the index has them with their times, so
# no file that stays as written is read again.
fill() {
  local WORKERS
  RULES_DIFFER=0 ATTRIBUTES_DIFFER=0 STAGE=$SHADOW/stage
  workers
  rm -f -- "$SHADOW/index" && forget_rules || return
  # From here on there is an index, and it counts as made from the noted objects.
  note_stores || return
  # Nothing is here yet, so no ignored files make a walk slow.
  printf '%s\n' "$NOW" >"$SHADOW/ignored-checked" || return
  write_stage "$1" && prove_stage "$1" && name_directories && place_new || return
  # The host's index must get the times of these files (refresh_index).
  printf '.\0' >"$OUT.new"
}

# write_stage TREE: git writes all files into STAGE, with several processes when there are many. When a signal
# ends one of these, git only says that something failed, so it is then asked to write with one process.
write_stage() {
  local status=0
  [ ! -e "$STAGE" ] || rm -rf -- "$STAGE" || return
  mkdir -- "$STAGE" || return
  # A directory that passes on its group (setgid) also does so to STAGE.
  [ ! -g . ] || { chgrp --reference=. -- "$STAGE" && chmod g+s -- "$STAGE"; } || return
  (
    cd -- "$STAGE" || exit
    GIT_WORK_TREE=$STAGE exec git -c checkout.workers="$WORKERS" -c checkout.thresholdForParallelism=$MANY_FILES read-tree --reset -u "$1"
  ) 2>"$OUT.move" && wrote_all || status=$?
  [ $status = 0 ] || name_full_disk
  [ $status != 0 ] && ! ended $status && [ "$WORKERS" -gt 1 ] || return $status
  WORKERS=1
  rm -f -- "$SHADOW/index" "$SHADOW/index.lock" && write_stage "$1"
}

# prove_stage TREE: whether git reads in STAGE exactly what the tree has, byte for byte (C4). The new index
# has no times, so git trusts none, and notes those of the files.
prove_stage() {
  local status=0
  backdate && rm -f -- "$SHADOW/index" && git read-tree "$1" || return
  (cd -- "$STAGE" && GIT_WORK_TREE=$STAGE exec git update-index --refresh) >"$OUT.odd" || status=$?
  said_in "$OUT.odd"
  [ -z "$SAID" ] || printf 'verification failed: not what was captured: %s\n' "$SAID" >&2
  return $status
} 2>>"$OUT.err"

# backdate: gives the files in STAGE a time before the present second. Git compares whole seconds, and reads a
# file again when its second may not have been over. With the older time, the time alone shows git that
# another process wrote a file. Where times cannot be set, git reads the files again. No list goes through a
# pipe, because a list that is cut short would name other files.
backdate() {
  local status=0
  printf -v TEXT '%(%s)T' -1
  find "$STAGE" -type f -exec touch -c -d "@$((TEXT - 2))" -- {} + || status=$?
  ! ended $status || return $status
}

# name_directories: gives the top-level directories of STAGE their names. A rename never replaces a file, or a
# directory with content. What has no name after this gets one from place_new.
name_directories() {
  local entry status=0 directories=()
  for entry in "$STAGE"/*; do [ ! -d "$entry" ] || [ -L "$entry" ] || directories+=("$entry"); done
  [ ${#directories[@]} -gt 0 ] || return 0
  # To another file system, mv would copy.
  TEXT=$(exec stat -c %d -- . "$STAGE") && lines_in "$TEXT" || return
  [ "${SPLIT[0]}" = "${SPLIT[1]}" ] || return 0
  printf '%s\0' "${directories[@]}" >"$OUT.operands" || return
  xargs -0 mv -n -t . -- <"$OUT.operands" 2>>"$OUT.move" || status=$?
  ! ended $status || return $status
}
