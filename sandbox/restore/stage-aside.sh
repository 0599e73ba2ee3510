# Reuses files that a restore put aside when everything is put back, so that they need not be written anew.
# shellcheck shell=bash

# stage_aside: on the way back, moves into STAGE the files that this restore put aside and git would otherwise
# write again: plain files that have the content of their entries in $OUT.info and that nobody has open. They
# get the usual mode, as if git had written them. So files with another hard link are left out, because it
# shares their mode. The `list` of the caller becomes what is left to write.
stage_aside() {
  local entry file n ids=() files=() paths=()
  [ -n "$BACK" ] && type -P perl >/dev/null && find_open && [ -n "$OPEN_KNOWN" ] || return 0
  for file in "$HOME_DIR/aside-$SESSION/$CALL/$INDEX".*/files; do
    while IFS= read -r -d '' entry; do
      n=$file/${entry#*$'\t'}
      [[ $entry == 100* ]] && [ -f "$n" ] && [ ! -L "$n" ] && [ -z "${OPEN[$n]-}" ] || continue
      files+=("$entry") paths+=("$n")
    done <"$OUT.info"
  done
  [ ${#paths[@]} -gt 0 ] || return 0
  # When one is gone by now, git writes all of them.
  with_paths git hash-object --no-filters -- >"$OUT.ids" 2>/dev/null && mapfile -t ids <"$OUT.ids" && [ ${#ids[@]} = ${#paths[@]} ] || return 0
  for n in "${!ids[@]}"; do
    # MODE ID<TAB>PATH
    entry=${files[n]%%$'\t'*}
    [ "${entry#* }" != "${ids[n]}" ] || printf '%s\0%s\0%s\0' "${entry% *}" "${paths[n]}" "${files[n]#*$'\t'}"
  done >"$OUT.stage-aside" || return
  perl -e '
    $/ = "\0"; my $stage = shift; mkdir $stage;
    while (defined(my $mode = <STDIN>) and defined(my $file = <STDIN>) and defined(my $path = <STDIN>)) {
      chomp($mode, $file, $path);
      for (my $at = 0; ($at = index $path, "/", $at) > 0; $at++) { mkdir "$stage/" . substr $path, 0, $at }
      -e "$stage/$path" or (lstat $file)[3] != 1 or not chmod(($mode eq "100755" ? 0777 : 0666) & ~umask, $file) or rename $file, "$stage/$path";
    }' "$STAGE" <"$OUT.stage-aside" 2>>"$OUT.err" || return
  while IFS= read -r -d '' n; do
    [ -e "$STAGE/$n" ] || [ -L "$STAGE/$n" ] || printf '%s\0' "$n"
  done <"$OUT.new" >"$OUT.left" && list=$OUT.left
}
