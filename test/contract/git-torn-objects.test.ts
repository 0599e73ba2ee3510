/** Objects of the shadow that are there and cannot be read, as after a power failure: a rollback makes them again or brings them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGitStage } from '../support/git-stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

/** Every fourth object, others each time. */
const STEP = WHOLE ? 1 : 4;
const FIRST = printedSeed('objects that are torn') % STEP;

const TORN = { empty: () => 0, 'cut off': (size: number) => Math.max(1, size - 8) };

const looseIn = (store: string): string[] =>
  readdirSync(store)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) => readdirSync(join(store, name)).map((rest) => join(store, name, rest)))
    .toSorted();

const WAYS = Object.entries(TORN).flatMap(([what, left]) =>
  [undefined, ['app/new', 'app/f']].map((paths) => [what, paths, left] as const),
);

test.each(WAYS)('%s, paths %s: the rollback comes to its target, and back', async (_what, paths, left) => {
  await using stage = await createGitStage();
  const sandbox = await stage.addSandbox();
  const root = join(stage.rootOf(sandbox), 'app');
  stage.sh(sandbox, 'mkdir app; cd app; git init -qb main; echo one >f; git add f; git commit -qm one');
  await stage.start('s', sandbox);
  const first = await stage.checkpoint('s', 'm1');
  stage.sh(
    sandbox,
    'echo two >f; mkdir new; echo n >new/n; git checkout -qb topic; git add .; git commit -qm two; echo dirty >new/dirty',
    'app',
  );
  const second = await stage.checkpoint('s', 'm2');
  const looks = () =>
    execFileSync(
      'sh',
      ['-c', 'cat f new/* 2>&1; git symbolic-ref HEAD; git for-each-ref; git status --porcelain'],
      { cwd: root, encoding: 'utf8' },
    );
  const work = looks();
  const store = join(root, '.agent-shadow/session-s/objects');
  const objects = looseIn(store);
  for (let at = FIRST; at < objects.length; at += STEP) {
    const object = objects[at] ?? '';
    const whole = readFileSync(object);
    chmodSync(object, 0o600);
    truncateSync(object, left(whole.length));
    const where = `${at} ${object.slice(store.length)}`;
    const there = await stage.rollback('s', `there-${at}`, first.checkpointId, { ...(paths && { paths }) });
    expect(there.status, where).toBe('APPLIED');
    expect(readFileSync(join(root, 'f'), 'utf8'), where).toBe('one\n');
    expect((await stage.rollback('s', `back-${at}`, second.checkpointId)).status, where).toBe('APPLIED');
    expect(looks(), where).toBe(work);
    // What no state here needs may still be torn.
    writeFileSync(object, whole);
  }
});
