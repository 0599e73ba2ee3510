# Checks whether the shadow has what a restore will read.
# shellcheck shell=bash

# objects_present TREE META [KNOWN...]: whether everything that a restore reads can be read. The
# history of a partial clone was never whole, but the commits that a capture names were there.
objects_present() {
  [ "$1" != "${3-}" ] || [ "$2" != "${4-}" ] || return 0
  if [ "$2" = "${4-}" ] && few_changed "${3-}" "$1" "$2"; then
    [ "$DRY_RUN" = 1 ] || ! read_contents || return 0
    ids_present "$IDS"
    return
  fi
  [ -z "${4-}" ] || lists_present "$4" || return
  if [ -n "$PARTIAL_FLAG" ]; then
    git rev-list --objects --quiet "$1" >/dev/null 2>"$OUT.missing" && git cat-file -e "$2" 2>"$OUT.missing" && host_objects "$2" || return
    IDS=${COMMITS[*]}
    [ -z "$IDS" ] || ids_present "${IDS// /$'\n'}"
    return
  fi
  git rev-list --objects --quiet "$1" ${2:+"$2"} --not ${3:+"$3"} ${4:+"$4"} >/dev/null 2>"$OUT.missing"
}

# ids_present IDS: whether these objects, one id per line, are there.
ids_present() {
  git cat-file --batch-check='%(objecttype)' <<<"$1" >"$OUT.there" 2>"$OUT.missing" || return
  slurp "$OUT.there"
  [[ $TEXT == *' missing'* ]] || return 0
  printf '%s' "$TEXT" >"$OUT.missing"
  return 1
}

# lists_present META: whether the lists of a host state can be read. A restore starts from the lists of now.
lists_present() {
  local name ids=''
  for name in host modes empty left-out index-flags sparse; do
    part_id "$1" $name || return
    [ -z "$ID" ] || ids+=$ID$'\n'
  done
  ids_present "${ids%$'\n'}"
}
