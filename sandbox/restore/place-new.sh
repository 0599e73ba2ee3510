# Gives new files of a restore their names. Git writes them into a directory beside the repository's own
# files, and each gets its name when it is complete. So no other process opens a half-written file, and no
# file is overwritten.
# shellcheck shell=bash

# stage_new: lets git write the new files into STAGE, on the file system of the repository. Any message of git
# is a failure, because older versions exit with 0 after some failures.
stage_new() {
  local status=0 list=$OUT.new
  [ ! -e "$STAGE" ] || rm -rf -- "$STAGE" || return
  stage_aside || return
  git checkout-index -z --stdin --prefix="$STAGE/" <"$list" 2>"$OUT.move" && wrote_all || status=$?
  [ $status = 0 ] || name_full_disk
  return $status
}

# name_full_disk: git does not say why it could not write a file. When there is no room beside STAGE, that is
# the reason.
name_full_disk() {
  slurp "$OUT.move"
  [[ $TEXT == *'unable to write file'* ]] && ! no_room "$TEXT" || return 0
  has_room "$STAGE" || printf 'No space left on device\n' >>"$OUT.err"
}

# wrote_all: whether git said nothing, or only what does no harm.
wrote_all() {
  local line
  while IFS= read -r line; do
    harmless "$line" || return
  done <"$OUT.move"
}

# place_new: gives the staged files their names, each in one step that never overwrites. One cp makes all
# these names; without -n it would remove what stands where a link goes. If another process has made a file
# again that was put aside, the new one is put aside as well. Any other file in the way ends the move.
place_new() {
  local path status=0 unlinked=''
  local -A ours=()
  cp -rlPnT -- "$STAGE" . 2>"$OUT.move" || status=$?
  ! ended $status || return $status
  # Files that have their name have two links.
  find "$STAGE" ! -type d -links 1 -printf '%P\0' >"$OUT.left" 2>>"$OUT.err" || return
  if [ -s "$OUT.left" ]; then
    slurp "$OUT.move"
    # The file system has no hard links, or another one is mounted here.
    case $TEXT in *'cross-device'* | *'not permitted'* | *'not supported'*) unlinked=1 ;; esac
    : >"$OUT.unlinked"
    : >"$OUT.again.late"
    while IFS= read -r -d '' path; do ours[$path]=1; done <"$OUT.old"
    while IFS= read -r -d '' path; do
      if [ -e "$path" ] || [ -L "$path" ]; then
        [ -n "${ours[$path]-}" ] || { printf '%s already exists, no checkout\n' "$path" >"$OUT.move" && return 1; }
        [ -d "$path" ] && [ ! -L "$path" ] || printf '%s\0' "$path" >>"$OUT.again.late"
      elif [ -n "$unlinked" ]; then
        printf '%s\0' "$path" >>"$OUT.unlinked"
        continue
      fi
      printf '%s\0' "$path" >>"$OUT.again"
    done <"$OUT.left"
    if [ -s "$OUT.unlinked" ]; then write_unlinked || return; fi
    if [ -s "$OUT.again" ]; then
      aside_place "$OUT.again.late" && put_aside "$OUT.again" "$STAGE" || return
    fi
  elif [ $status != 0 ]; then
    return $status
  fi
  rm -rf -- "$STAGE" && inherit_groups
}

# drop_made I: removes, on the way back, the empty directories that a move to the target made for its
# files before it broke off. GOAL is what the repository holds now.
drop_made() {
  local path inner dirs=()
  local -A seen=()
  [ -n "${R_TREE[$1]}" ] || return 0
  is_here "${R_TREE[$1]}" || return
  [ -n "$HERE" ] || return 0
  git diff-tree -r -z --no-renames --name-only --diff-filter=A "$GOAL" "${R_TREE[$1]}" >"$OUT.made" || return
  while IFS= read -r -d '' path; do
    # A repository inside this one puts back its own files.
    for inner in "${NESTED[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
    while [[ $path == */* ]]; do
      path=${path%/*}
      [ -z "${seen[$path]-}" ] || break
      seen[$path]=1 dirs+=("$path")
    done
  done <"$OUT.made"
  drop_directories "${dirs[@]}"
}

# write_unlinked: gives their names to files that cannot be linked. It renames them; where that fails, git
# writes them in place, with a warning about the moment in which another process could lose a write.
write_unlinked() {
  local paths=()
  rename_unlinked || return
  [ -s "$OUT.unlinked" ] || return 0
  git checkout-index -z --stdin <"$OUT.unlinked" 2>"$OUT.move" || return
  wrote_all || return
  mapfile -d '' -t paths <"$OUT.unlinked" || return
  printf '%s: nothing can be linked here, so %s files were written in place; what another process wrote into one at that instant may be lost\n' "${paths[0]//$'\n'/ }" "${#paths[@]}" >>"$OUT.warn"
}

# rename_unlinked: renames staged files by renameat2 with RENAME_NOREPLACE, which overwrites nothing. mv -n
# does the same only where the file system supports it, and does not say when it does not. Files that could
# not be renamed stay in the list: another file system, a system without this call, or something is in their
# place by now.
rename_unlinked() {
  local call
  case $HOSTTYPE in
    x86_64) call=316 ;;
    aarch64) call=276 ;;
    *) return 0 ;;
  esac
  type -P perl >/dev/null || return 0
  perl -e '
    $/ = "\0"; my ($call, $stage) = @ARGV; @ARGV = ();
    sub below_link { my $way = ""; for (split m{/}, $_[0]) { return 1 if -l ($way .= $_); $way .= "/" } 0 }
    while (my $path = <STDIN>) {
      chomp $path;
      my $from = "$stage/$path";
      next if not below_link($path =~ m{^(.*)/}s) and syscall($call + 0, -100, $from, -100, $path, 1) == 0;
      print "$path\0" or die "cannot write: $!\n";
    }
    close STDOUT or die "cannot write: $!\n";' "$call" "$STAGE" <"$OUT.unlinked" >"$OUT.in-place" 2>>"$OUT.err" || return
  mv -- "$OUT.in-place" "$OUT.unlinked"
}

# inherit_groups: gives new files in a directory that passes on its group (setgid) that group, as if they had
# been written there.
inherit_groups() {
  local path dir='' group paths status=0
  local -A among=() group_of=() groups=()
  while IFS= read -r -d '' path; do
    path=./$path
    # Files of one directory are consecutive.
    [ "${path%/*}" != "$dir" ] || continue
    dir=${path%/*}
    [ ! -g "$dir" ] || among[$dir]=1
  done <"$OUT.new"
  [ ${#among[@]} -gt 0 ] || return 0
  # The proof will notice a file that another process has removed meanwhile.
  printf '%s\0' "${!among[@]}" >"$OUT.operands" || return
  xargs -0 sh -c 'exec find "$@" -maxdepth 0 -perm -2000 -printf "%G %p\0"' find <"$OUT.operands" >"$OUT.groups-of" 2>"$OUT.groups-err" || status=$?
  [ $status != 123 ] || status=1
  walked $status "$OUT.groups-err" || return
  while IFS= read -r -d '' dir; do group_of[${dir#* }]=${dir%% *} groups[${dir%% *}]=1; done <"$OUT.groups-of"
  for group in "${!groups[@]}"; do
    paths=()
    while IFS= read -r -d '' path; do
      path=./$path
      [ "${group_of[${path%/*}]-}" != "$group" ] || paths+=("$path")
    done <"$OUT.new"
    with_paths chgrp -h -- "$group" 2>>"$OUT.err" || return
  done
}
