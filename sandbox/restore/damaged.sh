# What a restore does about objects of the shadow that are there and cannot be read (shared/torn.sh).
# shellcheck shell=bash

# bring_damaged I: drop_damaged, and what was brought is brought once more: it was not written where its name was taken.
bring_damaged() { drop_damaged && { [ ${#DROPPED[@]} = 0 ] || [ -z "${R_BUNDLES[$1]}" ] || bring_objects "$1"; }; }

# check_whole I CHECK: a check of this repository, where one that failed for objects of the shadow that cannot be read names them as missing.
check_whole() {
  local status=0 failed=1
  "$2" "$1" || status=$?
  ! ended $status || return $status
  if [ $status = 0 ]; then
    [ -s "$OUT.problems" ] || return 0
    failed=$(perhaps grep -czx failed -- "$OUT.problems") || return
  fi
  [ "$failed" != 0 ] && [ -n "$EXISTS" ] && [ -n "${SHADOW-}" ] && [ -d "$SHADOW/objects" ] || return $status
  drop_damaged || return
  [ ${#DROPPED[@]} -gt 0 ] || return $status
  lacking "$1" "objects of its captures cannot be read: ${DROPPED[*]:0:5}"
}
