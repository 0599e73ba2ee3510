/** Shell commands that change nothing. With those of shell-writes.ts they are the specification of the classifier. */
import { scripts } from './shell-lines.ts';

export const READS: readonly string[] = scripts(String.raw`
ls
ls -la src
ls -la "$HOME/work"
ls $x
\ls
l''s
"ls" -a
/bin/ls
/usr/bin/cat a
ls *.ts
ls {a,b}
ls ~/work
cat a b c
cat -n 'a b'
cat < in.txt
cat <<'EOF'⏎$(rm x)⏎EOF
cat <<EOF⏎plain⏎EOF
cat <<< "hello"
cat <(ls)
head -n 20 file
tail -f log
wc -l < file
echo hello
echo "$(git rev-parse HEAD)"
echo $((1 + 2))
echo "${'$'}{x:-none}"
echo "${'$'}{x##*/}" "${'$'}{#x}" "${'$'}{x/a/b}" "${'$'}{x:0:3}"
printf '%s\n' a b
printf -- '%d' 3
pwd && ls
cd src && ls
cd src; ls || true
(cd src && ls)
{ ls; pwd; }
ls | wc -l
ls |& head
ls 2>/dev/null
ls > /dev/null 2>&1
ls >&2
ls &> /dev/null
ls &
! ls
time ls
x=1
x=$(ls)
x=1; echo $x
LC_ALL=C ls
TZ=UTC date
if [ -f a ]; then cat a; else ls; fi
for f in a b c; do cat "$f"; done
for f in *.ts; do wc -l "$f"; done
while false; do ls; done
case $x in a) ls;; *) pwd;; esac
[ -f "$x" ]
[ ! -d "$x" ]
[ "$x" = "$y" ]
[ a -nt b ]
test -e file
[[ -f a && $x == b* ]]
[[ $x =~ ^a ]]
[[ 1 -eq 2 ]]
grep -rn "TODO" src
grep -e '-delete' file
grep foo $files
egrep 'a|b' x
rg foo src
rg -n --hidden 'foo bar' .
fd -e ts
find . -name '*.ts'
find . -type f -newer a -print
find src/*.d -maxdepth 1
find "src/$x" -name y
sort file
sort -u -k2,2n file
sort -t, -k1 src/*.csv
uniq -c file
uniq -f 1 file
comm a b
diff -u a b
cmp a b
cut -d: -f1 /etc/passwd
tr a-z A-Z
sed -n '1,20p' file
sed -n 5p file
sed '/^#/d' file
sed 's/a/b/g' file
sed -E 's|a+|b|' file
sed -n -e '1p' -e '3p' file
sed '$d' file
awk '{print $1}' file
awk -F: '{print $1}' /etc/passwd
awk -F , -v n=3 'NR==n {print}' file
awk 'END {print NR}' file
jq .name package.json
jq -r '.a | keys' x.json
tree -L 2
file a.bin
xxd a.bin
xxd -l 16 a.bin
od -c a
stat a
du -sh .
df -h
ps aux
which node
type ls
command -v node
command ls -l
date
date +%s
date -u '+%Y-%m-%d'
date -d yesterday
env
printenv PATH
hostname
uname -a
whoami
id
nproc
sleep 1
true
set -e
set -euo pipefail; ls
timeout 5 ls
timeout 10s git status
node --version
node -v
npm --version
python3 --version
cargo --version
git status
git status --short --branch
git log --oneline -5
git log -p -- src
git diff
git diff HEAD~1 --stat
git diff "main...HEAD" --name-only
git show HEAD:a.txt
git blame a.txt
git branch
git branch -a
git branch --show-current
git branch --list 'feature/*'
git branch --contains abc
git tag
git tag -l 'v*'
git remote
git remote -v
git remote get-url origin
git stash list
git stash show -p
git worktree list
git reflog
git reflog show main
git rev-parse --show-toplevel
git ls-files -m
git ls-files --others --exclude-standard
git ls-tree -r HEAD
git cat-file -p HEAD
git grep foo
git config --get user.name
git config --list
git describe --tags
git -C dir status
git --no-pager log
git -c color.ui=never diff
git rev-list --objects HEAD
git version
git --version
git submodule status
git symbolic-ref --short HEAD
ls | xargs cat
find . -name '*.ts' -print0 | xargs -0 grep foo
ls | xargs -n 1 wc -l
ls | xargs -I{} echo {}
ls | xargs
cat a | base64 | head -c 10
tar tf a.tar
tar -tzf a.tgz
unzip -l a.zip
zcat a.gz | head
md5sum a b
sha256sum "$file"
git status && git diff | head -50; echo done
# only a comment⏎ls
ls \⏎ -l
readlink -f a
realpath a
basename "$(pwd)"
seq 1 3
exit 1
`);
