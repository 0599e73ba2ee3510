# Reads the host state of a capture back. If git cannot read something, it is an error, never
# "nothing there".
# shellcheck shell=bash

# Entries of host states by "commit/name". Each commit is read once.
declare -A PARTS=()

# part_id META NAME: ID becomes the object id of one entry of the host state, or empty when there is none.
part_id() {
  local id name TEXT
  ID=''
  [ -n "$1" ] || return 0
  if [ -z "${PARTS[$1]-}" ]; then
    slurp "${SHADOW-}/meta.parts"
    if [[ $TEXT != "$1"$'\n'*$'\n'end$'\n' ]]; then
      git ls-tree "$1" >"$OUT.parts" 2>>"$OUT.err" || return
      slurp "$OUT.parts"
    fi
    lines_in "$TEXT"
    for id in "${SPLIT[@]}"; do
      name=${id#*$'\t'} id=${id%%$'\t'*}
      [ "$name" = "$id" ] || PARTS[$1/$name]=${id##* }
    done
    PARTS[$1]='read'
  fi
  ID=${PARTS[$1/$2]-}
}

# same_part META META NAME: SAME is set when two host states have the same entry of that name, or both have
# none.
same_part() {
  local one
  SAME=''
  part_id "$1" "$3" || return
  one=$ID
  part_id "$2" "$3" || return
  [ "$one" != "$ID" ] || SAME=1
}

# plain META: whether it is the host state found by the last look, and that look found no modes and no empty
# directories. Then git need not be asked.
plain() { [ "$1" = "$META" ] && [ ! -s "$OUT.modes" ] && [ ! -s "$OUT.empty" ]; }

# part META NAME FILE: one entry of the host state as a file, empty when it is not there.
part() {
  part_id "$1" "$2" || return
  : >"$3" || return
  [ -z "$ID" ] || [ "$ID" = "$EMPTY_BLOB" ] || git cat-file blob "$ID" >"$3" 2>>"$OUT.err"
}

# is_here ID: HERE becomes the type of this object, or empty when the shadow does not have it. Git's exit
# status alone does not tell a missing object from a failure.
is_here() {
  local answer
  HERE=''
  # Each line of input is a separate question.
  if [[ $1 == *$'\n'* ]]; then
    HERE=$(git cat-file -t "$1" 2>/dev/null)
    return 0
  fi
  answer=$(exec git cat-file --batch-check <<<"$1" 2>>"$OUT.err") || return
  [[ $answer == *' missing' ]] || { HERE=${answer#* } && HERE=${HERE%% *}; }
}

# load_state META: sets T_KIND, T_REF, T_COMMIT, T_BRANCHES from a capture's host entry.
load_state() {
  local word rest
  [ "${T_META-}" != "$1" ] || return 0
  T_META=''
  T_KIND=none T_REF='' T_COMMIT='' T_BRANCHES=''
  part "$1" host "$OUT.host-of" || return
  while read -r word rest; do
    case $word in
      head) T_KIND=$rest ;;
      ref) T_REF=$rest ;;
      commit) T_COMMIT=$rest ;;
      branch) T_BRANCHES+=$rest$'\n' ;;
      symref) T_BRANCHES+="symref $rest"$'\n' ;;
    esac
  done <"$OUT.host-of"
  T_META=$1
}

# refs_in NAME BRANCHES: reads the value of each ref, a commit or `symref TARGET`, into the array
# of that name.
refs_in() {
  local -n into=$1
  local id ref
  lines_in "$2"
  for id in "${SPLIT[@]}"; do
    ref=${id#* } id=${id%% *}
    if [ "$id" = symref ]; then into[${ref#* }]="symref ${ref%% *}"; else into[$ref]=$id; fi
  done
}

# host_objects META: OBJECTS becomes the commits and trees that the host's repository held at a capture, and
# COMMITS the commits among them.
host_objects() {
  local line
  OBJECTS=()
  git cat-file commit "$1" >"$OUT.commit" 2>>"$OUT.err" || return
  while IFS= read -r line && [ -n "$line" ]; do
    [[ $line != 'parent '* ]] || OBJECTS+=("${line#parent }")
  done <"$OUT.commit"
  COMMITS=("${OBJECTS[@]}")
  for line in index stage1 stage2 stage3; do
    part_id "$1" $line || return
    [ -z "$ID" ] || OBJECTS+=("$ID")
  done
}
