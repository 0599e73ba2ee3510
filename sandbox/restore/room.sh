# Room that is kept for the way back. A restore that fails because nothing more can be written gives this room
# up. So it can put everything back and say why.
# shellcheck shell=bash

# hold_room: reserves the room on the disk of the projects root: some bytes, and some files. Without it
# nothing is written. The bytes go away with the folder of this call. The files stay for the next call,
# because making new ones may be slow (open_run).
hold_room() {
  keep_room && return
  give_room
  FULL=${FULL:-"$HOME_DIR/room-$SESSION, which keeps room for the way back, cannot be written: remove it, then call again"}
  return 1
}

keep_room() {
  local bytes=0 count=$(((${#R_PATH[@]} + 1) * 32)) files=$HOME_DIR/room-$SESSION held
  ! line_of "$HOME_DIR/index-bytes-$SESSION" || [[ ! $TEXT =~ ^[0-9]{1,12}$ ]] || bytes=$TEXT
  # Room for several copies of the indexes and the other lists of each repository, but never so much that it
  # takes long.
  bytes=$((bytes * 4 + (${#R_PATH[@]} + 1) * 65536))
  [ $bytes -le 16777216 ] || bytes=16777216
  [ $count -le 512 ] || count=512
  [ -d "$files" ] || mkdir -- "$files" || return
  held=("$files"/*)
  if [ ${#held[@]} -lt $count ]; then
    for ((; count > 0; count--)); do [ -e "$files/$count" ] || [ -L "$files/$count" ] || : >"$files/$count" || return; done
  fi
  # When the file system can reserve the bytes, none are written. The second file has the name of the report,
  # so the answer later takes its place.
  { fallocate -l $bytes -- "$BULK/room" || printf "%${bytes}s" '' >"$BULK/room"; } && printf '%16384s' '' >"$RUN/report"
} 2>/dev/null

# give_room: gives the room up. FULL says where it was needed.
give_room() {
  has_room "$BULK/room" || FULL="there is no room left in $HOME_DIR"
  rm -rf -- "$BULK/room" "$HOME_DIR/room-$SESSION" || :
}
