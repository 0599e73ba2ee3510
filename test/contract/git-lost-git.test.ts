/** Repositories that have no .git any more, or one that lost what captures were made on. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { replacedCommand } from '../support/placing.ts';

const INNER = 'git init -q -b main sub; cd sub; echo s > s; git add s; git commit -qm s';

describe('a repository whose .git was deleted', () => {
  test('comes back without it, also around another one', async () => {
    await using harness = await withTwoFiles(['app']);
    await harness.capture();
    harness.sh(`${INNER}; rm -rf ../.git`, 'app');
    const before = [...files(harness.root), ...world(harness, ['app/sub'])];
    const second = await harness.capture();
    harness.sh('rm -rf app');
    const { undo } = await applies(harness, second);
    expect([...files(harness.root), ...world(harness, ['app/sub'])]).toEqual(before);
    expect(existsSync(`${harness.root}/app/.git`)).toBe(false);
    await applies(harness, undo);
    expect(files(harness.root)).toEqual([]);
  });

  test('goes again when one inside it cannot be made', async () => {
    using failing = replacedCommand(
      'git',
      '[[ $* == *"init -q --bare"*/0.git* ]] || exec "$real" "$@"\nexit 1\n',
    );
    await using harness = await withTwoFiles(['app'], { env: failing.env });
    await harness.capture();
    harness.sh(`${INNER}; rm -rf ../.git`, 'app');
    const second = await harness.capture();
    harness.sh('rm -rf app; mkdir other; echo o > other/o');
    const before = files(harness.root);
    failing.arm();
    expect((await harness.rollback(second)).report.outcome).toBe('reverted');
    expect(files(harness.root)).toEqual(before);
  });
});
