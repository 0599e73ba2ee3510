# Lists what Walkback keeps below a projects root, and removes what no session needs any more. Answers pairs of
# key and value, each ended by NUL. Set by the caller: WB_MARK, WB_DEPTH, WB_ENDED (ids of sessions that are
# over), WB_REMOVE (empty: only list), WB_OLD (minutes after which a call is over). Started in the projects root.
#
# 1. What may hold files of the user's own stays: what restores put aside, and parked repositories.
# 2. A folder of a call stays until it is old: a call that runs may still read it.
# 3. What is removed is listed first, by the same walk. So a process that is killed leaves what the next finds.
# shellcheck shell=bash
set -u -o pipefail
shopt -s dotglob nullglob
export LC_ALL=C
cd -P . && ROOT=$PWD

is_over() {
  local id
  for id in "${WB_ENDED[@]}"; do [ "$id" != "$1" ] || return 0; done
  return 1
}

# walk ARGUMENT...: what find prints goes into $OUT.walk. PARTIAL becomes 1 when a directory could not be read. After any
# other failure nobody knows what is there, so this script ends without an answer.
walk() {
  local status=0
  find "$@" >"$OUT.walk" 2>/dev/null || status=$?
  [ $status -le 1 ] || exit $status
  PARTIAL=$status
}

# entry HOME NAME SESSION FATE: lists it, and removes it where its fate is `remove`.
entry() {
  local blocks count=0 kib=0
  walk "$1/$2" ! -type d -printf '%k\n'
  while read -r blocks; do count=$((count + 1)) kib=$((kib + blocks)); done <"$OUT.walk"
  printf 'path\0%s\0session\0%s\0fate\0%s\0files\0%s\0kib\0%s\0' "${1#./}/$2" "$3" "$4" $count $kib
  [ "$4" = remove ] && [ -n "$WB_REMOVE" ] || return 0
  # Nothing is deleted where a link leads.
  (cd -P -- "$1" && [ "$PWD" = "$ROOT/${1#./}" ] && rm -rf -- "./$2") 2>/dev/null || printf 'left\0%s\0' "${1#./}/$2"
}

# of_session HOME NAME SESSION: an entry that goes when its session is over.
of_session() { if is_over "$3"; then entry "$@" remove; else OTHERS=1 && entry "$@" needed; fi; }

# calls HOME NAME SESSION: the folders of calls that are over.
calls() {
  local call over=()
  walk "$1/$2" -mindepth 1 -maxdepth 1 -mmin "+$WB_OLD" -printf '%f\0'
  while IFS= read -r -d '' call; do over+=("$call"); done <"$OUT.walk"
  for call in "${over[@]}"; do entry "$1" "$2/$call" "$3" remove; done
  [ -z "$WB_REMOVE" ] || rmdir -- "$1/$2" 2>/dev/null || :
}

# look_in HOME: one folder of ours.
look_in() {
  local at name
  for at in "$1"/*; do
    name=${at##*/}
    case $name in
      session-* | taken-* | nested-* | slow-* | beside-* | room-*) of_session "$1" "$name" "${name#*-}" ;;
      index-bytes-*) of_session "$1" "$name" "${name#index-bytes-}" ;;
      run-* | in-*) calls "$1" "$name" "${name#*-}" ;;
      in) calls "$1" in '' ;;
      aside-* | parked-* | replaced-*) entry "$1" "$name" "${name#*-}" keep ;;
    esac
  done
}

main() {
  local home homes=()
  if [ -n "$WB_REMOVE" ] && [ -d .agent-shadow ] && [ ! -L .agent-shadow ]; then
    # No other command works here meanwhile.
    { exec 9>>.agent-shadow/lock && flock -w 60 9; } 2>/dev/null || { printf 'busy\0\0end\0\0' && return; }
  fi
  walk . -maxdepth "$WB_DEPTH" \( -name .git -o -name node_modules \) -prune -o -name .agent-shadow -prune -type d -print0
  while IFS= read -r -d '' home; do homes+=("$home"); done <"$OUT.walk"
  # Where not everything could be read, another session may need the program.
  OTHERS=${PARTIAL#0}
  for home in "${homes[@]}"; do look_in "$home"; done
  # A program that somebody needs is sent again.
  [ -n "$OTHERS" ] || [ ! -d .agent-shadow/bin ] || [ -L .agent-shadow/bin ] || entry ./.agent-shadow bin '' remove
  for home in "${homes[@]}"; do [ -z "$WB_REMOVE" ] || leave "$home"; done
  printf 'end\0\0'
}

# leave HOME: removes a folder that holds nothing any more.
leave() {
  local left=("$1"/*) at
  for at in "${left[@]}"; do case ${at##*/} in .gitignore | lock) ;; *) return 0 ;; esac; done
  rm -f -- "$1/.gitignore" "$1/lock" && rmdir -- "$1"
} 2>/dev/null

OUT=$(mktemp) || exit 1
trap 'rm -f -- "$OUT" "$OUT.walk"' EXIT
main >"$OUT" && printf '\n%s\n' "$WB_MARK" && base64 -w 0 "$OUT" && printf '\n%s\n' "$WB_MARK"
