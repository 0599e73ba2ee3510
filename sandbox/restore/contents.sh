# Reads at once what few files will hold, where a restore changes few.
# shellcheck shell=bash

# Larger contents git writes itself.
CONTENTS_KIB=256

# read_contents: reads the objects in IDS into $OUT.contents, so that they need not be asked for again when
# they are written. In any doubt it fails, and whether they are there is asked alone.
read_contents() {
  local parts=()
  type -P perl >/dev/null || return
  (ulimit -c 0 && ulimit -f $CONTENTS_KIB && exec git cat-file --batch='%(objectname) %(objecttype) %(objectsize)' <<<"$IDS") >"$OUT.contents" 2>/dev/null || return
  mapfile -d '' -t parts <"$OUT.contents" && [[ ${parts[*]} != *' missing'* ]] && : >"$OUT.contents.whole"
}

# few_changed FROM TO: whether these trees differ in few files. IDS are the objects that the second
# has and the first has not: git has read the trees between.
few_changed() {
  local i entries=() WRITTEN REMOVED RULES_DIFFER ATTRIBUTES_DIFFER
  IDS=$2
  [ -z "$PARTIAL_FLAG" ] && changes "$1" "$2" 2>/dev/null && mapfile -d '' -t -n 401 entries <"$SHADOW/changes" && [ ${#entries[@]} -le 400 ] || return
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    # :MODE MODE ID ID STATUS
    set -- ${entries[i]}
    [ "$2" != 160000 ] || return
    [ "$5" = D ] || IDS+=$'\n'$4
  done
}
