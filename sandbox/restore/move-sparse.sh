# Brings the rules of a partial checkout (`git sparse-checkout`) to those of a captured state.
# shellcheck shell=bash

# move_sparse META NOW_META: writes settings and rules where they differ. $OUT.rules-stay says that the rules
# are not those of META. The setting that makes the rules count comes last, so a killed restore leaves the old
# rules in force, or parts of both.
move_sparse() {
  local cone config=${WORKTREE_CONFIG:-$HC/config}
  same_part "$1" "$2" sparse || return
  [ -z "$SAME" ] || return 0
  if [ -L "$config" ] || [ -L "$HG/info" ]; then
    printf 'the rules of the partial checkout stay as they are now, because %s or %s is a symlink\n' "${config#"$PWD"/}" "${HG#"$PWD"/}/info" >>"$OUT.warn"
    : >"$OUT.rules-stay"
    return
  fi
  free_lock "$config.lock" || { printf 'fatal: another git process holds %s\n' "${config##*/}.lock" >>"$OUT.err" && return 1; }
  part "$1" sparse "$OUT.sparse-of" || return
  if [ ! -s "$OUT.sparse-of" ]; then
    # Older releases did not capture the rules. Then the index has entries for the files that the rules left
    # out.
    part "$1" index-flags "$OUT.flags" || return
    if rules_left_out; then : >"$OUT.rules-stay"; else sparse_setting sparseCheckout false; fi
    return
  fi
  IFS= read -r cone <"$OUT.sparse-of" && mkdir -p -- "$HG/info" && tail -n +2 -- "$OUT.sparse-of" >"$SHADOW/sparse-checkout" && mv -f -- "$SHADOW/sparse-checkout" "$HG/info/sparse-checkout" || return
  sparse_setting sparseCheckoutCone "${cone#cone }" && sparse_setting sparseCheckout true
}

# rules_left_out: whether rules may have set the flags in $OUT.flags. A file that exists was flagged by hand,
# so there were no rules: with rules, git removes the flag from such a file.
rules_left_out() {
  local entry path some=1
  while IFS= read -r -d '' entry; do
    [[ $entry == [sS]' '* ]] || continue
    path=${entry:2} some=0
    [ ! -f "$path" ] && [ ! -L "$path" ] || return 1
  done <"$OUT.flags"
  return $some
}

# sparse_setting NAME VALUE: writes the setting in the file that git reads last.
sparse_setting() { "${HOST_GIT[@]}" --git-dir="$HG" config --file "$config" --replace-all "core.$1" "$2" 2>>"$OUT.err"; }
