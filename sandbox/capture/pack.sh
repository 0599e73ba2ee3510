# Packs the shadow when it has grown. A step of its own after a capture, which never depends on it.
#
# 1. An object goes from its file into a pack, whatever refers to it. Git's own `gc` drops what no ref reaches,
#    and captures need objects without a ref.
# 2. A file goes when its pack has its name, is on the disk and was read back. So a process that is killed at
#    any instant, or finds no room, leaves each object in at least one place, and readers find it there.
# 3. A call packs only so much. What is left is for the next call.
# shellcheck shell=bash

# Git packs when it finds more than gc.auto (6700) objects that lie alone. It counts those of one directory of 256.
LOOSE_MOST=27
# What one call packs. A larger object stays: its file saves nothing in a pack.
PACK_OBJECTS=20000 PACK_KIB=262144 PACK_OBJECT_KIB=8192 PACK_SECONDS=20

# pack_grown: packs objects of the shadow when there are many. After a try that failed, it waits until there are
# many more.
pack_grown() {
  local alone=("$SHADOW"/objects/17/*)
  if [ ${#alone[@]} -le $LOOSE_MOST ]; then
    [ ! -e "$SHADOW/not-packed" ] || rm -f -- "$SHADOW/not-packed"
    return
  fi
  [ $SECONDS -lt $((3 * PACK_SECONDS)) ] || return
  ! line_of "$SHADOW/not-packed" || [[ ! $TEXT =~ ^[0-9]{1,9}$ ]] || [ ${#alone[@]} -gt "$TEXT" ] || return 0
  printf '%s\n' $((${#alone[@]} + LOOSE_MOST)) >"$SHADOW/not-packed" && list_loose && pack_listed && rm -f -- "$SHADOW/not-packed"
}

# list_loose: lists what this call packs. Fails where a pack would not have room beside the files.
list_loose() {
  local kib name count=0 total=0 names='' room
  find "$SHADOW/objects" -mindepth 2 -maxdepth 2 -type f -path '*/[0-9a-f][0-9a-f]/*' ! -name '*[!0-9a-f]*' -printf '%k %P\n' >"$OUT.alone" || return
  while read -r kib name && [ $count -lt $PACK_OBJECTS ] && [ $total -lt $PACK_KIB ]; do
    [ "$kib" -le $PACK_OBJECT_KIB ] || continue
    total=$((total + kib)) count=$((count + 1)) names+=$name$'\n'
  done <"$OUT.alone"
  printf '%s' "$names" >"$OUT.alone" && tr -d / <"$OUT.alone" >"$OUT.ids" || return
  room=$(exec stat -f -c '%a %S' -- "$SHADOW/objects") && [[ $room =~ ^([0-9]+)\ ([0-9]+)$ ]] || return
  [ $((BASH_REMATCH[1] * BASH_REMATCH[2] / 1024)) -gt $((2 * total)) ]
}

# pack_listed: makes the pack, reads it back, and then removes the files.
pack_listed() {
  local at=$SHADOW/objects/pack id file
  # A pack whose index was never written is none.
  for file in "$at"/pack-*.{pack,rev}; do [ -e "${file%.*}.idx" ] || rm -f -- "$file" || return; done
  id=$(exec timeout --foreground -k 1 $PACK_SECONDS git -c core.bigFileThreshold=1m -c pack.windowMemory=16m pack-objects -q "$at/pack" <"$OUT.ids") \
    && timeout --foreground -k 1 $PACK_SECONDS git verify-pack "$at/pack-$id.idx" && sync "$at" || {
    rm -f -- "$at"/tmp_*
    return 1
  }
  cd -- "$SHADOW/objects" && xargs rm -f -- <"$OUT.alone"
}
