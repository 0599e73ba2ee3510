# The private folders of a call.
# shellcheck shell=bash

# MEMORY: where files are kept in memory. MOUNTS and MEMINFO: the system's mounts and memory.
MEMORY=/dev/shm MOUNTS=/proc/self/mounts MEMINFO=/proc/meminfo

# open_run [quick]: BULK becomes a private folder of this call on the disk, for data that may be large or is
# read from outside. RUN becomes one for its lists and marks: the same as BULK, or for `quick` a folder in
# memory when there is room. Folders of old calls are removed; a recent one may still be read.
open_run() {
  BULK=$HOME_DIR/run-$SESSION/$CALL
  RUN=$BULK
  # A capture writes dozens of small files for each repository, most of them empty. Sandboxes have a file
  # system without a journal. On its disk, the kernel looks for each new file past every one that was deleted
  # in the last minutes (recently_deleted in fs/ext4/ialloc.c).
  [ "${1-}" != quick ] || ! room_in_memory || RUN=$IN_MEMORY-$CALL
  # All folders are named, so all of them get the mode.
  # shellcheck disable=SC2174
  mkdir -p -m 700 "$HOME_DIR/run-$SESSION" "$BULK" "$RUN" 2>/dev/null || RUN=$BULK
  [ -d "$BULK" ] || return 1
  [ -O "$RUN" ] || RUN=$BULK
  local left=("$HOME_DIR/run-$SESSION"/*/room) old=("$HOME_DIR/run-$SESSION"/*)
  # What a killed restore reserved for its way back is needed now.
  [ ${#left[@]} -eq 0 ] || rm -f -- "${left[@]}"
  # Files that were brought in for a restore that never came are also removed.
  [ ! -d "$HOME_DIR/in-$SESSION" ] || old+=("$HOME_DIR/in-$SESSION"/*)
  [ ${#old[@]} -lt 4 ] || find "$HOME_DIR/run-$SESSION" "$HOME_DIR/in-$SESSION" -mindepth 1 -maxdepth 1 -mmin +15 -exec rm -rf -- {} + 2>/dev/null || :
}

# close_run [bulk]: removes the folders of this call; with `bulk`, BULK stays to be read. It is the last thing
# that a command does, so no shell has to wait for it.
close_run() {
  if [ -z "${1-}" ]; then
    exec rm -rf -- "$RUN" "$BULK"
  elif [ "$RUN" != "$BULK" ]; then
    exec rm -rf -- "$RUN"
  fi
}

# room_in_memory: whether the lists of a call fit into memory many times over. IN_MEMORY becomes the beginning
# of the folders' names. $HOME_DIR/index-bytes-SESSION has the size of the indexes, and a list needs no more
# bytes for an entry than an index. If a call left a folder there, it did not end well, perhaps for lack of
# room: then the disk is used until that folder is old enough to be removed.
room_in_memory() {
  local need size used free left place=${ROOT//\//-}
  # A file name may have at most 255 bytes.
  [ ${#place} -le 150 ] || place=${place: -150}
  IN_MEMORY=$MEMORY/walkback-$UID-$place
  left=("$IN_MEMORY-"*)
  if [ ${#left[@]} -gt 0 ]; then
    find "${left[@]}" -maxdepth 0 -mmin +15 -exec rm -rf -- {} + 2>/dev/null || :
    return 1
  fi
  [ -w "$MEMORY" ] && line_of "$HOME_DIR/index-bytes-$SESSION" && [[ $TEXT =~ ^[0-9]{1,15}$ ]] || return
  need=$((TEXT / 1024 * 16 + 32768))
  slurp "$MEMINFO"
  # In KiB, like all sizes below.
  [[ $TEXT =~ MemTotal:\ +([0-9]+)\ .*MemAvailable:\ +([0-9]+)\ .*Shmem:\ +([0-9]+)\  ]] || return
  # The default size of a file system in memory (tmpfs(5)).
  size=$((BASH_REMATCH[1] / 2)) free=${BASH_REMATCH[2]} used=${BASH_REMATCH[3]}
  slurp "$MOUNTS"
  # When several file systems are mounted at one place, the last one is visible.
  [[ $'\n'$TEXT =~ .*$'\n'[^\ ]*\ "$MEMORY"\ ([^\ ]*)\ ([^\ ]*) ]] && [ "${BASH_REMATCH[1]}" = tmpfs ] || return
  TEXT=,${BASH_REMATCH[2]},
  [[ ! $TEXT =~ ,size=([0-9]+)k, ]] || size=${BASH_REMATCH[1]}
  [[ ! $TEXT =~ ,nr_inodes=([0-9]+), ]] || [ "${BASH_REMATCH[1]}" -ge 65536 ] || return
  [ $((need * 2 + used)) -le "$size" ] && [ $((need * 4)) -le "$free" ]
}
