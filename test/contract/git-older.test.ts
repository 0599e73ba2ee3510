/** What older and newer releases of git do otherwise, played on the git that is there. */
import { expect, test } from 'vitest';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { replacedCommand } from '../support/placing.ts';

test('before 2.32, ls-files --directory passes over what is ignored in a directory that holds nothing else', async () => {
  using git = replacedCommand(
    'git',
    `case " $* " in
*' version ') echo git version 2.31.8 ;;
*' -o -i --exclude-standard --directory '*) ;;
*) exec "$real" "$@" ;;
esac`,
  );
  git.arm();
  await using harness = await withTwoFiles(['app'], { env: git.env });
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(
    `printf '*.log\\nmodules/\\n' > .gitignore; mkdir -p logs pkg/modules/m pkg/' odd'; echo 1 > logs/1.log; chmod 600 logs/1.log; echo 2 > pkg/' odd/2.log'; echo m > pkg/modules/m/m; echo p > pkg/p`,
    'app',
  );
  const after = world(harness, ['app']);
  const { report } = await harness.rollback(first, { dryRun: true });
  const shown = report.warnings.map((text) => /^app: (.*) stays, and the rules/.exec(text)?.[1] ?? '');
  expect(shown).toHaveLength(3);
  expect(new Set(shown)).toEqual(new Set(['logs/1.log', 'pkg/ odd/2.log', 'pkg/modules/']));
  const { undo } = await applies(harness, first);
  const stays = /logs|pkg$|pkg\/ odd|pkg\/modules/;
  expect(world(harness, ['app']).filter((line) => !stays.test(line))).toEqual(before);
  expect(world(harness, ['app']).filter((line) => stays.test(line))).toEqual(
    after.filter((line) => stays.test(line)),
  );
  await applies(harness, undo);
  expect(world(harness, ['app'])).toEqual(after);
});

test('git of before 2023 says in two lines that a macro of attributes is not allowed', async () => {
  using git = replacedCommand(
    'git',
    `case " $* " in *' checkout-index '*) printf '[attr]foo bar\\n not allowed: d/.gitattributes:1\\n' >&2 ;; esac
exec "$real" "$@"`,
  );
  await using harness = await withTwoFiles(['app'], { env: git.env });
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(`echo changed > a.txt; mkdir d; echo '[attr]foo bar' > d/.gitattributes`, 'app');
  git.arm();
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
});

test('before 2.34, git calls a symbolic ref to a missing branch broken', async () => {
  using git = replacedCommand(
    'git',
    `[[ " $* " != *' for-each-ref '*' refs/heads '* ]] || echo 'warning: ignoring broken ref refs/heads/void' >&2
exec "$real" "$@"`,
  );
  git.arm();
  await using harness = await withTwoFiles(['app'], { env: git.env });
  harness.sh('git symbolic-ref refs/heads/void refs/heads/gone', 'app');
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  harness.sh('git symbolic-ref -d refs/heads/void', 'app');
  await applies(harness, first);
  expect(harness.sh('git symbolic-ref refs/heads/void', 'app')).toBe('refs/heads/gone\n');
});

test('before 2.36, git runs what core.fsmonitor names, and it names nothing', async () => {
  using git = replacedCommand(
    'git',
    `given=(); for ((i = 1; i < $#; i++)); do [[ \${!i} != -c ]] || { j=$((i + 1)); given+=(-c "\${!j}"); }; done
named=$("$real" "\${given[@]}" config core.fsmonitor); [ -z "$named" ] || : >"$armed.named"
exec "$real" "$@"`,
  );
  await using harness = await withTwoFiles(['app'], { env: git.env });
  const first = await harness.capture();
  harness.sh('echo two > a.txt; git add a.txt; git branch more', 'app');
  harness.sandbox.beforeRun = () => git.arm();
  await applies(harness, first);
  expect(git.isArmed()).toBe(true);
  expect(git.left('named')).toBe(false);
});

test('from 3.0, git init makes a repository in SHA-256 format', async () => {
  using git = replacedCommand(
    'git',
    `case " $* " in *' init '*) export GIT_DEFAULT_HASH="\${GIT_DEFAULT_HASH:-sha256}" ;; esac; exec "$real" "$@"`,
  );
  await using harness = await withTwoFiles(['app'], { env: git.env });
  const before = world(harness, ['app']);
  const first = await harness.capture();
  git.arm();
  const report = await harness.rehydrate(first);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(world(harness, ['app'])).toEqual(before);
});
