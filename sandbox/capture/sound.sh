# Files of the shadow that a power failure or an incomplete pause tore. Git maps an index into memory and does not
# notice when its end is missing: it crashes, or takes what it finds there for entries.
# shellcheck shell=bash

# sound_index: removes an index that is not as git wrote it. Then everything is read again from the files. An index
# is checked once in a call, and only when git will read it.
sound_index() {
  [ -f "$SHADOW/index" ] && [ ! -f "$OUT.sound" ] || return 0
  whole_index "$SHADOW/index" || without_index || return
  : >"$OUT.sound"
}

without_index() {
  UNSEEDED=1 RULES_NEW=1
  forget_rules && rm -f -- "$SHADOW"/{index,index.known,tree.id}
}

# whole_index FILE: whether an index ends with the checksum of what is before it. One that a host's git wrote
# without a checksum (index.skipHash) counts as torn.
whole_index() {
  local sum bytes=20 hash=sha1sum
  [ "$FORMAT" != sha256 ] || bytes=32 hash=sha256sum
  sum=$(head -c -$bytes -- "$1" | $hash) || { survived $? && return 1; }
  sum=${sum%% *} bytes=''
  while [ -n "$sum" ]; do bytes+="\\x${sum:0:2}" sum=${sum:2}; done
  printf '%b' "$bytes" >"$OUT.sum" && tail -c $((${#bytes} / 4)) -- "$1" | cmp -s -- - "$OUT.sum" || { survived $? && return 1; }
}

# an_id TEXT: whether this is a whole id. A note that was torn holds part of one.
an_id() { [ ${#1} = ${#EMPTY_SHA1} ] || [ ${#1} = ${#EMPTY_SHA256} ] && [[ $1 != *[!0-9a-f]* ]]; }
