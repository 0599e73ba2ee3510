# A repository that another repository has left in this call. What lies below the other one's place now
# belongs to this one, and was not looked at with it.
# shellcheck shell=bash

# vacated I: VACATED is set when a repository inside this one, which the target does not have, has left.
vacated() {
  local j path=${R_PATH[$1]}/
  VACATED=''
  [ -z "$BACK" ] || return 0
  [ "$path" != ./ ] || path=''
  for j in "${GONE[@]}"; do [[ ${R_PATH[j]} != "$path"* ]] || VACATED=1; done
}

# modes_here I: writes into $OUT.modes.old the modes of now that a proof would find, without files that no
# capture holds.
modes_here() {
  local path entry
  local -A known=()
  unseen_of "$1" && unseen_rules && write_excludes "${NESTED[@]}" "${HELD[@]}" && known_ignored && find_odd && sort_odd && drop_lost "$OUT.modes" && drop_ignored "$OUT.modes" 1 || return
  UNSEEN_RULES=''
  git ls-files -z -c >"$OUT.known-paths" || return
  while IFS= read -r -d '' path; do known[$path]=1; done <"$OUT.known-paths"
  while IFS= read -r -d '' entry; do
    [[ $entry == F* && -z ${known[${entry#*/}]-} ]] || printf '%s\0' "$entry"
  done <"$OUT.modes" >"$OUT.modes.old"
}
