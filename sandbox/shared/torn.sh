# Objects of the shadow that are there and cannot be read, as after a power failure.
# shellcheck shell=bash

# drop_damaged: removes the single objects of the shadow that cannot be read, as after a power failure: git takes what has a name for
# there, and would not write it again. DROPPED are their names.
drop_damaged() {
  local line
  DROPPED=()
  mend_packs || return
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

# mend_packs: makes the index of a pack again where git cannot read it, and removes a pack that was torn itself. DROPPED
# gets their names.
mend_packs() {
  local pack alone=(env -u GIT_OBJECT_DIRECTORY -u GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_DIR="$SHADOW" git)
  for pack in "$SHADOW"/objects/pack/*.idx; do [ -f "${pack%.idx}.pack" ] || rm -f -- "$pack" || return; done
  for pack in "$SHADOW"/objects/pack/*.pack; do
    "${alone[@]}" verify-pack "${pack%.pack}.idx" >/dev/null 2>&1 && continue
    damaged_by $?
    DROPPED+=("${pack#"$SHADOW/objects/"}")
    rm -f -- "${pack%.pack}"{.idx,.rev} || return
    "${alone[@]}" index-pack "$pack" >/dev/null 2>&1 && continue
    damaged_by $?
    rm -f -- "${pack%.pack}"{.idx,.rev,.pack} || return
  done
}

# crashed STATUS: whether a process ended as those do that read a damaged file: by SIGILL, SIGBUS, SIGFPE or SIGSEGV.
crashed() { case $1 in 132 | 135 | 136 | 139) ;; *) return 1 ;; esac }

# damaged_by STATUS: for a command that failed or crashed over a file. After another signal this shell ends.
damaged_by() { crashed "$1" || survived "$1"; }
