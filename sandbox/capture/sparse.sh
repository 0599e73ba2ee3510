# Partial checkouts (`git sparse-checkout`). Without their rules in the capture, git would hide changes to the
# files that they leave out.
# shellcheck shell=bash

# list_sparse: writes into $OUT.sparse whether the rules are directories (cone), and the rules. The file is
# empty when everything is checked out, which is also so when there is no file of rules.
list_sparse() {
  local file entry on='' cone=false
  : >"$OUT.sparse"
  [[ ${HOST_CONFIG,,} == *sparsecheckout* ]] || return 0
  for file in "$HC/config" ${WORKTREE_CONFIG:+"$WORKTREE_CONFIG"}; do
    [ ! -f "$file" ] || perhaps "${HOST_GIT[@]}" --git-dir="$HG" config --no-includes --file "$file" -z --get-regexp '^core\.sparsecheckout(cone)?$' 2>>"$OUT.err" || return
  done >"$OUT.settings"
  while IFS= read -r -d '' entry; do
    case ${entry,,} in
      core.sparsecheckout | core.sparsecheckout$'\n'true | core.sparsecheckout$'\n'yes | core.sparsecheckout$'\n'on | core.sparsecheckout$'\n'1) on=1 ;;
      core.sparsecheckout$'\n'*) on='' ;;
      core.sparsecheckoutcone | core.sparsecheckoutcone$'\n'true | core.sparsecheckoutcone$'\n'yes | core.sparsecheckoutcone$'\n'on | core.sparsecheckoutcone$'\n'1) cone=true ;;
      *) cone=false ;;
    esac
  done <"$OUT.settings"
  [ -n "$on" ] && [ -e "$HG/info/sparse-checkout" ] || return 0
  slurp "$HG/info/sparse-checkout"
  printf 'cone %s\n%s' "$cone" "$TEXT" >"$OUT.sparse"
}
