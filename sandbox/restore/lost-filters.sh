# Filters that the files of a new repository need, and that are not set there: settings that name a command do not
# travel with a capture.
# shellcheck shell=bash

# tell_filters: after a repository was made, warns of each filter without which git shows files as modified.
tell_filters() {
  local path name count advice host=(env -u GIT_INDEX_FILE GIT_DIR="$HG" GIT_WORK_TREE="$PWD" "${HOST_GIT[@]}")
  local -A files=() one=()
  [ -n "$CREATED" ] && [ -f "$HG/index" ] && convertible && [ -n "$CONVERTIBLE" ] || return 0
  # Nothing is run here: the settings of the user are not read, and the new repository has no command in its own.
  "${host[@]}" ls-files -z -m >"$OUT.modified" 2>>"$OUT.err" && "${host[@]}" check-attr -z --stdin filter <"$OUT.modified" >"$OUT.filters" 2>>"$OUT.err" || { survived $? && return 0; }
  while IFS= read -r -d '' path && IFS= read -r -d '' name && IFS= read -r -d '' name; do
    [[ $name != unspecified && $name != set && $name != unset && $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ ]] || continue
    count=${files[$name]-0}
    files[$name]=$((count + 1))
    one[$name]=${one[$name]-$path}
  done <"$OUT.filters"
  count=0
  for name in "${!files[@]}"; do
    count=$((count + 1))
    [ $count -le 10 ] || break
    ! users_filter "$name" || continue
    advice="git config filter.$name.clean and filter.$name.smudge, as it was in the original repository"
    [ "$name" != lfs ] || advice='git lfs install --local'
    path=${one[$name]}
    printf 'the filter %s is not set here, so git shows %s of its files as modified, such as %s: set it up with %s\n' "$name" "${files[$name]}" "${path//$'\n'/ }" "$advice" >>"$OUT.warn"
  done
}

# users_filter NAME: whether the user's own settings name this filter.
users_filter() {
  env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u GIT_CONFIG_NOSYSTEM -u GIT_CONFIG_SYSTEM HOME="$WB_HOME" XDG_CONFIG_HOME="${WB_XDG%/git}" GIT_CONFIG_GLOBAL="$WB_GLOBAL_CONFIG" \
    git config --get-regexp "^filter\\.${1//./\\.}\\.(clean|smudge|process)\$" >/dev/null 2>&1 || { survived $? && return 1; }
}
