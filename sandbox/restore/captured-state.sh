# Reads the host state of a capture back.
# shellcheck shell=bash

# Entries of host states by "commit/name", read once a commit.
declare -A PARTS=()

# part_id META NAME: ID is the object id of one entry of the host state, or nothing.
part_id() {
  local id name
  ID=''
  [ -n "$1" ] || return 0
  if [ -z "${PARTS[$1]-}" ]; then
    while IFS=$'\t' read -r id name; do PARTS[$1/$name]=${id##* } PARTS[$1]=read; done < <(exec git ls-tree "$1" 2>/dev/null)
  fi
  ID=${PARTS[$1/$2]-}
}

# same_part META META NAME: whether two host states have the same entry of that name, or both have none.
same_part() {
  local one
  part_id "$1" "$3"
  one=$ID
  part_id "$2" "$3"
  [ "$one" = "$ID" ]
}

# plain META: whether it is the host state found by the last look, and needs no mode and no empty directory. Then nothing
# has to be asked of git.
plain() { [ "$1" = "$META" ] && [ ! -s "$OUT.modes" ] && [ ! -s "$OUT.empty" ]; }

# part META NAME: prints one entry of the host state, nothing when it is not there.
part() {
  part_id "$1" "$2"
  [ -z "$ID" ] || [ "$ID" = "$EMPTY_BLOB" ] || git cat-file blob "$ID" 2>/dev/null || :
}

# load_state META: sets T_KIND, T_REF, T_COMMIT, T_BRANCHES from a capture's host entry.
load_state() {
  local word rest
  [ "${T_META-}" != "$1" ] || return 0
  T_META=$1
  T_KIND=none T_REF='' T_COMMIT='' T_BRANCHES=''
  while read -r word rest; do
    case $word in
      head) T_KIND=$rest ;;
      ref) T_REF=$rest ;;
      commit) T_COMMIT=$rest ;;
      branch) T_BRANCHES+=$rest$'\n' ;;
    esac
  done < <(part "$1" host)
}

# host_objects META: the commits and trees that the host's repository held at a capture.
host_objects() {
  parents_of "$1"
  git ls-tree "$1" 2>/dev/null | sed -n 's/^040000 tree \([0-9a-f]*\)\t\(index\|stage[123]\)$/\1/p'
}
