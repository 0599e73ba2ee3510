# Notes for a composed state what lies in no repository, as a capture does. Such files are noted as they are
# now; in the directories of repositories that go, as they were without the repository.
# shellcheck shell=bash

# entries_below FILE PATH: prints the notes about the content of a directory. When the names are not known, it
# prints a directory that was not looked into, so that its files stay.
entries_below() {
  local entry above entries=()
  [ -f "$1" ] && mapfile -d '' -t entries <"$1" || entries=()
  if [ ${#entries[@]} = 0 ] || [ "${entries[-1]}" != e ]; then
    printf 'o./%s\0' "$2"
    return
  fi
  for entry in "${entries[@]}"; do
    above=${entry#o./}
    if [ "$above" != "$entry" ] && [[ $2/ == "$above"/* ]]; then printf 'o./%s\0' "$2"; fi
    [[ ${entry:1} != ./"$2"/* ]] || printf '%s\0' "$entry"
  done
}

# note_composed: writes the notes of this composition. What the other side of a merge has in such a directory
# is not known here, and no capture holds it. So all captured files go with the repository.
note_composed() {
  local notes=$HOME_DIR/taken-$SESSION i from entries=()
  [ -f "$notes/$NOW_TAG" ] || return 0
  mapfile -d '' -t entries <"$notes/$NOW_TAG" || return
  # Without a complete note about now, nothing is known.
  [ ${#entries[@]} -gt 0 ] && [ "${entries[-1]}" = e ] || return 0
  unset 'entries[-1]'
  {
    [ ${#entries[@]} = 0 ] || printf '%s\0' "${entries[@]}"
    for i in "${!GONE_PATH[@]}"; do
      [ -n "${GONE_TAG[i]}" ] || continue
      from=$notes/${GONE_TAG[i]}
      [ -f "$from" ] || from=$notes/.came
      entries_below "$from" "${GONE_PATH[i]}"
    done
    printf 'e\0'
  } >"$RUN/noted" && mv -f -- "$RUN/noted" "$notes/$TAG"
}
