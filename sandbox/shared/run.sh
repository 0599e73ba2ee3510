# The private folders of a call.
# shellcheck shell=bash

# Where files are kept in memory, and the mounts and the memory that there are.
MEMORY=/dev/shm MOUNTS=/proc/self/mounts MEMINFO=/proc/meminfo

# open_run [quick]: BULK is a private folder for this call on the disk, for what may be large or is read from outside.
# RUN is one for its lists and marks: BULK too, or, for `quick`, in memory where there is room. Folders of old calls are
# removed; a recent one may still be read.
open_run() {
  BULK=$HOME_DIR/run-$SESSION/$CALL
  RUN=$BULK
  # A capture writes dozens of small files for each repository, most of them empty. On a disk of a file system without a
  # journal, as sandboxes have it, the kernel looks for each new file past every one that was deleted in the last minutes
  # (recently_deleted in fs/ext4/ialloc.c).
  [ "${1-}" != quick ] || ! room_in_memory || RUN=$IN_MEMORY-$CALL
  # All folders are named, so all get the mode.
  # shellcheck disable=SC2174
  mkdir -p -m 700 "$HOME_DIR/run-$SESSION" "$BULK" "$RUN" 2>/dev/null || RUN=$BULK
  [ -d "$BULK" ] || return 1
  [ -O "$RUN" ] || RUN=$BULK
  local left=("$HOME_DIR/run-$SESSION"/*/room) old=("$HOME_DIR/run-$SESSION"/*)
  # What a killed restore kept for its way back is needed now.
  [ ${#left[@]} -eq 0 ] || rm -f -- "${left[@]}"
  # Files brought in for a restore that never came lie beside them.
  [ ! -d "$HOME_DIR/in-$SESSION" ] || old+=("$HOME_DIR/in-$SESSION"/*)
  [ ${#old[@]} -lt 4 ] || find "$HOME_DIR/run-$SESSION" "$HOME_DIR/in-$SESSION" -mindepth 1 -maxdepth 1 -mmin +15 -exec rm -rf -- {} + 2>/dev/null || :
}

# close_run [bulk]: removes the folders of this call; with `bulk` that one stays, to be read. It is the last thing that a
# command does: no shell has to wait for it.
close_run() {
  if [ -z "${1-}" ]; then
    exec rm -rf -- "$RUN" "$BULK"
  elif [ "$RUN" != "$BULK" ]; then
    exec rm -rf -- "$RUN"
  fi
}

# room_in_memory: IN_MEMORY is what the names of folders there begin with, and the answer whether the lists of a call fit into memory many times over: $HOME_DIR/index-bytes-SESSION has the size of the
# indexes, and a list needs no more for an entry than an index. A folder that a call left there did not end well, perhaps for lack
# of room: then the disk is used until it is old enough to be removed.
room_in_memory() {
  local need size used free left place=${ROOT//\//-}
  # A name has room for 255 bytes.
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
  # In KiB, as all below.
  [[ $TEXT =~ MemTotal:\ +([0-9]+)\ .*MemAvailable:\ +([0-9]+)\ .*Shmem:\ +([0-9]+)\  ]] || return
  # What a file system in memory takes if it is not told otherwise (tmpfs(5)).
  size=$((BASH_REMATCH[1] / 2)) free=${BASH_REMATCH[2]} used=${BASH_REMATCH[3]}
  slurp "$MOUNTS"
  # Of several mounts at one place, the last one is seen.
  [[ $'\n'$TEXT =~ .*$'\n'[^\ ]*\ "$MEMORY"\ ([^\ ]*)\ ([^\ ]*) ]] && [ "${BASH_REMATCH[1]}" = tmpfs ] || return
  TEXT=,${BASH_REMATCH[2]},
  [[ ! $TEXT =~ ,size=([0-9]+)k, ]] || size=${BASH_REMATCH[1]}
  [[ ! $TEXT =~ ,nr_inodes=([0-9]+), ]] || [ "${BASH_REMATCH[1]}" -ge 65536 ] || return
  [ $((need * 2 + used)) -le "$size" ] && [ $((need * 4)) -le "$free" ]
}
