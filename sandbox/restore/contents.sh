# Reads the contents of the files that a restore will write in one step, when there are only a few.
# shellcheck shell=bash

# Larger contents are written by git itself.
CONTENTS_KIB=256

# read_contents: reads the objects in IDS into $OUT.contents, so that they need not be read again when they
# are written. It fails in any doubt; then only their existence is checked.
read_contents() {
  local parts=()
  type -P perl >/dev/null || return
  (ulimit -c 0 && ulimit -f $CONTENTS_KIB && exec git cat-file --batch='%(objectname) %(objecttype) %(objectsize)' <<<"$IDS") >"$OUT.contents" 2>/dev/null || return
  mapfile -d '' -t parts <"$OUT.contents" && [[ ${parts[*]} != *' missing'* ]] && : >"$OUT.contents.whole"
}

# few_changed FROM TO META: whether these trees, which both have this host state, differ in only a few files.
# IDS becomes the objects that TO has and FROM does not have. Git has read the trees in between. Where a file
# comes, goes or gets another mode, the lists of the host state must be there, because a restore reads them.
few_changed() {
  local i entries=() meta=$3 content=1 WRITTEN REMOVED RULES_DIFFER ATTRIBUTES_DIFFER
  IDS=$2
  [ -z "$PARTIAL_FLAG" ] && changes "$1" "$2" 2>/dev/null && mapfile -d '' -t -n 401 entries <"$SHADOW/changes" && [ ${#entries[@]} -le 400 ] || return
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    # :MODE MODE ID ID STATUS
    set -- ${entries[i]}
    [ "$2" != 160000 ] || return
    [ "$5" = D ] || IDS+=$'\n'$4
    [ "$5 :$2" = "M $1" ] || content=''
  done
  [ -n "$content" ] || lists_present "$meta"
}
