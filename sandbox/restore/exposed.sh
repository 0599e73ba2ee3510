# Warns of files that a returning .gitignore no longer ignores.
# shellcheck shell=bash

# tell_exposed TREE: when rules differ, warns of files that the present rules ignore and those of the tree do
# not. They stay where they are, but git will show them, and the next checkpoint captures them.
tell_exposed() {
  local path count=0 probe=.walkback-probe
  local -a hidden=() closed=() open=()
  local -A whole=() still=()
  list_ignored "$OUT.hidden.all" 2>>"$OUT.err" && mapfile -d '' -t hidden <"$OUT.hidden.all" || return
  # A directory is one entry both when a rule names it and when all files in it are ignored.
  for path in "${hidden[@]}"; do
    [ "$path" = .agent-shadow/ ] || { [[ $path != */ ]] && printf '%s\0' "$path"; } || closed+=("$path")
  done >"$OUT.hidden" || return
  if [ ${#closed[@]} -gt 0 ]; then
    printf "%s$probe\0" "${closed[@]}" >"$OUT.closed" && check_ignore "$OUT.closed" "$OUT.closed.whole" || return
    while IFS= read -r -d '' path; do whole[$path]=1; done <"$OUT.closed.whole"
    for path in "${closed[@]}"; do
      if [ -n "${whole[$path$probe]-}" ]; then printf '%s\0' "$path$probe" >>"$OUT.hidden"; else open+=("$path"); fi
    done
    [ ${#open[@]} -eq 0 ] || git --literal-pathspecs ls-files -z -o -i --exclude-standard -- "${open[@]}" >>"$OUT.hidden" 2>>"$OUT.err" || return
  fi
  [ -s "$OUT.hidden" ] || return 0
  ignored_by "$1" "" "$OUT.hidden" "$OUT.hidden.still" || return
  while IFS= read -r -d '' path; do still[$path]=1; done <"$OUT.hidden.still"
  while IFS= read -r -d '' path; do
    # Some releases of git list such a directory and its files too.
    [ -z "${still[$path]-}" ] || continue
    still[$path]=1
    count=$((count + 1))
    [ $count -gt 20 ] || printf '%s stays, and the rules that come back do not ignore it: git shows it then, and the next checkpoint captures it\n' "${path%"$probe"}"
  done <"$OUT.hidden" >"$OUT.warn.exposed"
  [ $count -le 20 ] || printf '... and %s more files that they do not ignore\n' $((count - 20)) >>"$OUT.warn.exposed"
}
