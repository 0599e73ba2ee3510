# Objects of the shadow that are there and cannot be read, as after a power failure.
# shellcheck shell=bash

# drop_damaged: removes the single objects of the shadow that cannot be read, as after a power failure: git takes what has a name for
# there, and would not write it again. DROPPED are their names.
drop_damaged() {
  local line
  DROPPED=()
  # Its status tells that it found some.
  (unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES && GIT_DIR=$SHADOW exec git fsck --no-full --no-dangling --no-reflogs --no-progress) >"$OUT.checked" 2>&1 || survived $?
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
