# Files that a restore overwrites or deletes are not destroyed. They are renamed into a directory
# of ours, and checked when the restore is done. This finds changes that another process made
# after the capture, even through an open file. A place is
# .agent-shadow/aside-SESSION/CALL/REPOSITORY.NUMBER with `files`, the `index` they were in or, of few
# files, their entries in `were`, the `path` and `format` of their repository, and in `late` the files
# that differed from the capture from the start. `stored` lists files whose content a checkpoint holds
# (late.sh).
# shellcheck shell=bash

# aside_places I...: makes the first place of each of these repositories, and what sums_git needs, in one
# process. What it cannot make is made later for each repository alone, which then reports why it fails.
aside_places() {
  local i git places=()
  for i; do
    git=$RUN/aside-${R_FORMAT[i]}
    [ "${R_TREE[i]}" = "${R_NOW_TREE[i]}" ] || places+=("$HOME_DIR/aside-$SESSION/$CALL/$i.1/files" "$git/objects" "$git/refs" "$git/info")
  done
  [ ${#places[@]} -lt 8 ] || mkdir -p -- "${places[@]}" 2>/dev/null || :
}

# aside_place LATE [ENTRY...]: PLACE becomes a new directory for files of this repository. LATE lists the
# files that are known to differ from the capture. The entries are everything that will be put there.
aside_place() {
  local number=1
  until [ ! -e "$HOME_DIR/aside-$SESSION/$CALL/$INDEX.$number/format" ]; do number=$((number + 1)); done
  PLACE=$HOME_DIR/aside-$SESSION/$CALL/$INDEX.$number
  [ -d "$PLACE/files" ] || mkdir -p -- "$PLACE/files" || return
  printf '%s\n' "$FORMAT" >"$PLACE/format" && printf '%s\0' "$REPOSITORY" >"$PLACE/path" || return
  pass_on "$1" >"$PLACE/late" || return
  if [ $# -gt 1 ]; then
    printf '%s\0' "${@:2}" >"$PLACE/were"
    return
  fi
  # git never writes into an index file but replaces it, so a second name keeps this one.
  ln -- "$GIT_INDEX_FILE" "$PLACE/index" 2>/dev/null || cp -p -- "$GIT_INDEX_FILE" "$PLACE/index"
}

# put_aside LIST [STAGE [lenient [CONTENTS INFO]]]: renames these files to the same names below PLACE. A file
# that is gone by now is skipped.
#
# - With STAGE, the staged file takes the place in the same instant, even if another process keeps making the
#   file again.
# - `lenient` tries each file once. What got its place is removed from STAGE, and the rest stays there. Then
#   $OUT.groups lists the directories that pass on their group.
# - With CONTENTS, in the format of `git cat-file --batch`, it first writes the plain files of the index
#   entries INFO into STAGE. If it cannot read one, it ends with status 3 and has done nothing.
put_aside() {
  [ -s "$1" ] || return 0
  if type -P perl >/dev/null; then
    perl -e '
      $/ = "\0"; my ($to, $stage, $lenient, $contents, $info) = @ARGV; @ARGV = (); my (%made, %above);
      if (defined $contents) {
        my (%text, @new, %there);
        open my $in, "<", $contents and open my $entries, "<", $info or die "cannot read: $!\n";
        while (defined(my $line = do { local $/ = "\n"; <$in> })) {
          $line =~ /^([0-9a-f]+) [a-z]+ ([0-9]+)\n$/ and read($in, $text{$1}, $2) == $2 and getc $in eq "\n" or exit 3;
        }
        while (my $entry = <$entries>) {
          $entry =~ /^100(644|755) ([0-9a-f]+)\t(.*)\0$/s and defined $text{$2} or exit 3;
          push @new, [$1, $text{$2}, $3];
        }
        mkdir $stage or die "cannot make $stage: $!\n";
        for (@new) {
          my ($mode, $text, $path) = @$_;
          for (my $at = 0; ($at = index $path, "/", $at) > 0; $at++) {
            my $way = substr $path, 0, $at;
            $there{$way}++ or mkdir "$stage/$way" or die "cannot make $stage/$way: $!\n";
          }
          open my $out, ">", "$stage/$path" or die "cannot write $stage/$path: $!\n";
          print $out $text and ($mode eq "644" or chmod 0777 & ~umask, $out) and close $out or die "cannot write $stage/$path: $!\n";
        }
      }
      while (my $path = <STDIN>) {
        chomp $path;
        my ($above) = $path =~ m{^(.*)/}s;
        if ($lenient and not $above{$above // "."}++) {
          print $above // ".", "\0" or die "cannot write: $!\n" if -g ($above // ".");
        }
        if (defined $above and not $made{$above}++) {
          my ($from, $way) = ("", $to);
          for my $name (split m{/}, $above) {
            $from .= $name; $way .= "/$name";
            -l $from and die "a link stands above $path\n";
            -d $way or mkdir $way or die "cannot make $way: $!\n";
            $from .= "/";
          }
        }
        for my $again ("", 1 .. 200) {
          my $name = "$to/$path" . ($again && ".$again");
          rename $path, $name or $! == 2 or $! == 20 or $! == 18 and system("mv", "-T", "--", $path, $name) == 0
            or die "cannot put $path aside: $!\n";
          last if not defined $stage;
          if (link "$stage/$path", $path) {
            last if not $lenient;
            unlink "$stage/$path" or die "cannot remove $stage/$path: $!\n";
            last;
          }
          last if $lenient;
          $! == 17 and $again ne 200 or die "cannot write $path: $!\n";
        }
      }
      exit if not $lenient;
      close STDOUT or die "cannot write: $!\n";
      for (keys %above) { my $way = $_; $above{$way} = 1 while $way =~ s{/[^/]*$}{}s }
      rmdir "$stage/$_" for sort { length $b <=> length $a } keys %above;
      rmdir $stage;' "$PLACE/files" "${@:2}" <"$1" >"$OUT.groups" 2>>"$OUT.err"
    return
  fi
  # Without perl, one mv per directory.
  local path dir n paths=() here
  local -A among=()
  mapfile -d '' -t paths <"$1" || return
  for n in "${!paths[@]}"; do
    path=${paths[n]} dir=.
    [[ $path != */* ]] || dir=${path%/*}
    if [ -z "${among[$dir]-}" ] && symlink_above "$path"; then
      printf 'a link stands above %s\n' "$path" >>"$OUT.err"
      return 1
    fi
    among[$dir]+=" $n"
  done
  printf '%s\0' "${!among[@]}" >"$OUT.operands" && (cd -- "$PLACE/files" && xargs -0 mkdir -p -- <"$OUT.operands") 2>>"$OUT.err" || return
  for dir in "${!among[@]}"; do
    here=()
    for n in ${among[$dir]}; do
      path=${paths[n]}
      if [ -e "$path" ] || [ -L "$path" ]; then here+=("$path"); fi
    done
    [ ${#here[@]} -eq 0 ] || { printf '%s\0' "${here[@]}" >"$OUT.operands" && xargs -0 mv -t "$PLACE/files/$dir" -- <"$OUT.operands" 2>>"$OUT.err"; } || return
  done
  [ $# = 2 ] || return 0
  for path in "${paths[@]}"; do
    for n in {1..20}; do
      ! ln -T -- "$2/$path" "$path" 2>>"$OUT.move" || continue 2
      mv -T -- "$path" "$PLACE/files/$path.$n" 2>>"$OUT.move"
    done
    return 1
  done
}

# gone_from_under: warns of processes whose working directory no longer exists.
gone_from_under() {
  local line path
  [ -f "$RUN/dropped" ] || return 0
  glob_quote "$ROOT"
  find /proc/[0-9]*/cwd -maxdepth 0 -lname "$TEXT/* (deleted)" -printf '%h %l\0' >"$RUN/stand-in" 2>/dev/null
  while IFS= read -r -d '' line; do
    path=${line#* }
    line=${line%% *}
    emit warning "process ${line##*/} stands in ${path% (deleted)}, which is not there any more: a shell has to change its directory"
  done <"$RUN/stand-in"
}
