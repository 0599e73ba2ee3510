# Objects of the shadow that are there and cannot be read, as after a power failure.
# shellcheck shell=bash

# drop_damaged: removes the single objects of the shadow that cannot be read, as after a power failure: git takes what has a name for
# there, and would not write it again. DROPPED are their names.
drop_damaged() {
  local line
  DROPPED=()
  # Its status tells that it found some.
  git fsck --no-full --no-dangling --no-reflogs --no-progress >"$OUT.checked" 2>&1 || survived $?
  slurp "$OUT.checked"
  lines_in "$TEXT"
  for line in "${SPLIT[@]}"; do
    [[ $line == *': object corrupt or missing: '* ]] || continue
    line=${line#*: object corrupt or missing: }
    [[ $line == "$SHADOW"/objects/[0-9a-f][0-9a-f]/* ]] || continue
    rm -f -- "$line" || return
    DROPPED+=("${line#"$SHADOW/objects/"}")
  done
}

# bring_damaged I: the same, and what was brought is brought once more: it was not written where its name was taken.
bring_damaged() { drop_damaged && { [ ${#DROPPED[@]} = 0 ] || [ -z "${R_BUNDLES[$1]}" ] || bring_objects "$1"; }; }

# check_whole I: check_one, where a check that failed for objects of the shadow that cannot be read names them as missing.
check_whole() {
  local status=0 failed=1
  check_one "$1" || status=$?
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
