# What git's own reading of the files depends on, in the settings of the repository alone. Without it, a copy shows
# files as modified that nobody touched. A command never travels, and neither does a path: only these names, each with
# one of these values.
# shellcheck shell=bash

# list_conversion: writes into $OUT.conversion each setting that differs from what `git init` writes, as
# `NAME<newline>VALUE`, ended by NUL. Into $OUT.own-attributes: .git/info/attributes, up to 1 MiB.
list_conversion() {
  local text=${HOST_CONFIG,,} file entry name size
  local -A value=()
  : >"$OUT.conversion"
  : >"$OUT.own-attributes"
  file=$HC/info/attributes
  if [ -f "$file" ] && [ -r "$file" ] && [ ! -L "$file" ] && [ ! -L "$HC/info" ]; then
    size=$(exec stat -c %s -- "$file") || return
    [ "$size" = 0 ] || [ "$size" -gt 1048576 ] || cat -- "$file" >"$OUT.own-attributes" || return
  fi
  # Git writes these into each new repository.
  text=${text//filemode = true/}
  text=${text//ignorecase = false/}
  [[ $text =~ (autocrlf|eol|filemode|ignorecase|symlinks) ]] || return 0
  for file in "$HC/config" ${WORKTREE_CONFIG:+"$WORKTREE_CONFIG"}; do
    [ ! -f "$file" ] || perhaps "${HOST_GIT[@]}" --git-dir="$HG" config --no-includes --file "$file" -z --get-regexp '^core\.(autocrlf|eol|filemode|ignorecase|symlinks)$' 2>>"$OUT.err" || return
  done >"$OUT.settings"
  while IFS= read -r -d '' entry; do
    name=${entry%%$'\n'*}
    as_setting "$name" "${entry:${#name}}" && value[$name]=$TEXT
  done <"$OUT.settings"
  for entry in core.autocrlf core.eol core.filemode core.ignorecase core.symlinks; do
    case $entry=${value[$entry]-} in
      *= | core.filemode=true | core.ignorecase=false | core.symlinks=true) ;;
      *) printf '%s\n%s\0' "$entry" "${value[$entry]}" || return ;;
    esac
  done >"$OUT.conversion"
}

# as_setting NAME [<newline>VALUE]: TEXT becomes the value as git understands it. Fails for any other name or value.
as_setting() {
  TEXT=${2#$'\n'}
  TEXT=${TEXT,,}
  case $1 in
    core.eol)
      case $TEXT in lf | crlf | native) return 0 ;; *) return 1 ;; esac
      ;;
    core.autocrlf) [ "$TEXT" != input ] || return 0 ;;
    core.filemode | core.ignorecase | core.symlinks) ;;
    *) return 1 ;;
  esac
  # A name without a value is true, and one with an empty value is false.
  case $TEXT in
    true | yes | on | 1) TEXT=true ;;
    false | no | off | 0) TEXT=false ;;
    '') if [ -z "$2" ]; then TEXT=true; else TEXT=false; fi ;;
    *) return 1 ;;
  esac
}
