/** Shell commands that change something, or may. */
import { scripts } from './shell-lines.ts';

export const WRITES: readonly string[] = scripts(String.raw`
rm a
rm -rf "$x"
mv a b
cp a b
mkdir d
touch a
ln -s a b
chmod +x a
truncate -s 0 a
tee a
dd if=a of=b
install a b
rsync a b
patch -p1
unknown-command
./ls
bin/ls
/tmp/ls
~/bin/ls
/usr/local/bin/ls
$x
"$x" -l
$(echo ls)
l$x
{ls,-l}
l?
ls; rm a
ls && rm a
ls || rm a
ls | tee a
ls & rm a
(rm a)
{ rm a; }
! rm a
time rm a
if rm a; then ls; fi
if ls; then rm a; fi
if ls; then ls; elif rm a; then ls; fi
if ls; then ls; else rm a; fi
for f in a; do rm $f; done
for f in $(rm a); do ls; done
for PATH in .; do ls; done
for ((i=0;i<3;i++)); do ls; done
while rm a; do ls; done
until ls; do rm a; done
case $(rm a) in a) ls;; esac
case a in a) rm a;; esac
select f in a; do ls; done
coproc ls
ls() { rm a; }; ls
function ls { rm a; }⏎ls
f() { ls; }
echo $(rm a)
echo "$(rm a)"
echo ${'`'}rm a${'`'}
echo "${'`'}rm a${'`'}"
ls "$(ls $(rm a))"
echo ${'$'}{x:-$(rm a)}
echo "${'$'}{x:=$(rm a)}"
echo ${'$'}{PATH:=/tmp}
echo ${'$'}{!x}
echo ${'$'}{x@P}
echo ${'$'}{a[$(rm a)]}
echo ${'$'}{a[x]}
echo ${'$'}{x:y}
echo $((x))
echo $((a[$(rm a)]))
echo $[x]
((x=1))
let x=1
cat <(rm a)
ls >(rm a)
cat <<EOF⏎$(rm a)⏎EOF
cat <<EOF⏎${'`'}rm a${'`'}⏎EOF
cat <<< "$(rm a)"
ls > a
ls >> a
ls >| a
ls &> a
ls &>> a
ls >& a
ls 2> a
ls 1> "$x"
ls <> a
ls {fd}> a
> a
: > a
echo x > /dev/sda
ls > /dev/null > a
{ ls; } > a
if ls; then ls; fi > a
cat < "$(rm a)"
PATH=. ls
LD_PRELOAD=./x.so ls
GIT_PAGER=rm git log
GIT_EXTERNAL_DIFF=./x git diff
PAGER=x git log
BASH_ENV=x ls
FOO=1 ls
PATH=.
PATH=.; ls
IFS=x; ls
x+=1
a[$(rm a)]=1
a=(1 $(rm a))
x=$(rm a)
export PATH=.
export x=1
declare x=1
local x=1
readonly x
unset x
alias ls=rm
unalias ls
eval ls
eval "rm a"
exec ls
source a
. a
bash -c ls
sh a.sh
bash
zsh -c 'rm a'
python -c 'print(1)'
python a.py
python -v
node a.js
node -e 1
perl -e 1
ruby -v
make
make -n
npm test
npm run build
npm ls
npm install
npx tsc
yarn
pnpm i
cargo build
go test ./...
pip install x
docker run x
docker ps
kubectl get pods
terraform plan
sudo ls
su -c ls
doas ls
nohup ls
watch ls
trap 'rm a' EXIT
builtin ls
enable ls
shopt -s extglob
ls *(e:'rm a':)
ls @(a|b)
cat =(rm a)
mapfile a
read x
printf -v PATH .
printf '%n' 'a[$(rm a)]'
printf "$x"
[ -v 'a[$(rm a)]' ]
[ "$x" "$y" ]
[ $x ]
[ $x = a ] && rm a
test -v x
test $a $b $c $d
[ -f a
[[ -v a ]]
[[ a -eq b ]]
[[ $x -gt 1 ]]
[[ -f $(rm a) ]]
find . -delete
find . -name a -delete
find . -exec rm {} \;
find . -execdir rm {} +
find . -ok rm {} \;
find . -okdir rm {} \;
find . -fprint a
find . -fprintf a %p
find . -fprint0 a
find . -fls a
find . $x
find "$x"
find . -name *.ts
find * -name a
find {.,-delete}
find . '-delete'
find . -"delete"
find . -del""ete
sort -o a a
sort -oa a
sort -uo a a
sort --output=a a
sort --output a a
sort --out a a
sort --compress-program=./x a
sort --compress ./x a
sort -T /x a
sort *
sort $x
uniq a b
uniq - b
uniq -c a b
sed -i s/a/b/ a
sed -i.bak s/a/b/ a
sed -ni p a
sed --in-place s/a/b/ a
sed -n 'w a' b
sed 's/a/b/w c' d
sed 's/a/b/e' d
sed e a
sed '1e rm a' b
sed -f script a
sed "$x" a
sed -e p -e 'w a' b
sed --expression='w a' b
sed -s -n 1p $x
sed 's/a/b/;w c' d
sed 1r/etc/passwd a
awk '{print > "a"}' b
awk '{print | "rm a"}' b
awk 'BEGIN {system("rm a")}'
awk -f x a
awk -i inplace '{print}' a
awk "$x" a
awk '{ "date" | getline x }'
awk '@load "x"' a
awk '{print}' -f x
gawk '{print}' a
rg --pre ./x foo
rg --pre=./x foo
rg --hostname-bin=./x foo
rg foo *
fd -x rm
fd -X rm
fd -Hx rm
fd --exec rm
fd --exec-batch rm
tree -o a
tree -R
file -C -m x
file --compile
xxd a b
xxd -r a
base64 -o a
date -s 2020-01-01
date --set=2020-01-01
date 010100002020
hostname evil
env rm a
env X=1 ls
env -i ls
xargs rm
ls | xargs rm
ls | xargs -I{} rm {}
ls | xargs -n1 sh -c
ls | xargs find
ls | xargs sort
ls | xargs git log
ls | xargs $x
ls | xargs -a f rm
timeout 5 rm a
timeout -k 1 5 rm a
timeout $x ls
command rm a
command -p rm a
command $x
curl https://example.com
curl -o a https://example.com
curl -X POST https://example.com
wget https://example.com
ssh host ls
scp a b
nc -l 1
tar xf a.tar
tar cf a.tar b
tar tf a.tar --to-command=x
tar -I ./x -tf a
tar tf --checkpoint-action=exec=x
unzip a.zip
unzip -l -o
gzip a
gunzip a
less a
vi a
ed a
ex a
man ls
crontab -r
kill 1
git
git add .
git commit -m x
git checkout main
git switch main
git restore a
git reset --hard
git clean -fd
git merge x
git rebase x
git pull
git fetch
git push
git stash
git stash pop
git stash drop
git branch x
git branch -d x
git branch -D x
git branch -m x
git branch -f x
git branch --list -D x
git branch --edit-description
git branch --set-upstream-to=x
git branch --contains x -d y
git tag v1
git tag -d v1
git tag -a v1 -m x
git tag -l -d v1
git remote add x y
git remote rm x
git remote update
git config user.name x
git config --unset user.name
git config --get a --unset b
git config --edit
git worktree add x
git worktree prune
git reflog expire --all
git reflog delete x
git notes add
git submodule update
git submodule foreach rm a
git apply a
git am a
git cherry-pick a
git revert a
git init
git clone x
git gc
git prune
git update-index --refresh
git update-ref x y
git symbolic-ref HEAD refs/heads/x
git format-patch HEAD~1
git archive HEAD
git bisect start
git fsck --lost-found
git ls-remote 'ext::rm a'
git diff --output=a
git diff --output a
git diff --outp=a
git log --output=a
git show --ext-diff
git diff --ext
git grep -O foo
git grep -nOrm foo
git grep --open-files-in-pager=rm foo
git grep --op=rm foo
git -c core.pager=rm log
git -c core.fsmonitor=./x status
git -c alias.log='!rm a' log
git --exec-path=. log
git -p log
git $x
git log $x
git log *
git diff "$x"
git lol
git status > a
git log | tee a
ls;⏎rm a
ls⏎rm a
ls #⏎rm a
ls \⏎; rm a
'unterminated
"unterminated
$(
ls )
ls &&
|| ls
(ls
if ls
`);

/** Without a line of their own above. */
export const MORE_WRITES: readonly string[] = [
  '',
  ' ',
  '# nothing',
  'ls\r\nrm a',
  'ls\u0000',
  'ls \u001b[A',
  `echo ${'x'.repeat(20_001)}`,
];
