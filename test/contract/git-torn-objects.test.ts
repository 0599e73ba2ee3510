/** Objects of the shadow that are there and cannot be read, as after a power failure: a rollback makes them again or brings them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { createGitStage, type Lie } from '../support/git-stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';

const test = inTurn('git-torn-objects');

/** Every fourth object, others each time. */
const STEP = WHOLE ? 1 : 4;
const SEED = printedSeed('objects that are torn');
const FIRST = SEED % STEP;
const steps = (at: number): number => (at - FIRST) / STEP;

const TORN = { empty: () => 0, 'cut off': (size: number) => Math.max(1, size - 8) };

const looseIn = (store: string): string[] =>
  readdirSync(store)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) => readdirSync(join(store, name)).map((rest) => join(store, name, rest)))
    .toSorted();

const WAYS = Object.entries(TORN).flatMap(([what, left]) =>
  [undefined, ['app/new', 'app/f']].map((paths) => [what, paths, left] as const),
);

test.each(sampled(WAYS, { every: 2, offset: SEED }))(
  '%s, paths %s: the rollback comes to its target, and back',
  async (_what, paths, left) => {
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
  },
);

/** The answer of a restore does not arrive: whoever asked does not know how far it came. */
const losesRestores: Lie = (stdout) => {
  const [, base64 = ''] = /\nwalkback-\S+\n(\S+)\n/.exec(stdout) ?? [];
  const answer = Buffer.from(base64, 'base64');
  if (answer.includes('"outcome":')) throw new WalkbackError('SandboxUnavailable', 'lost');
  return stdout;
};

test.each(sampled(Object.entries(TORN), { every: 2, offset: SEED }))(
  'half of a rollback is done, and then %s: whatever is asked next settles it and is done',
  async (_what, left) => {
    await using stage = await createGitStage();
    const sandbox = await stage.addSandbox();
    const root = join(stage.rootOf(sandbox), 'app');
    stage.sh(
      sandbox,
      'mkdir app; cd app; git init -qb main; for n in a b c d; do echo $n >$n; done; git add .; git commit -qm one',
    );
    await stage.start('s', sandbox);
    const first = await stage.checkpoint('s', 'm1');
    stage.sh(
      sandbox,
      'for n in a b c d; do echo $n 2 >$n; done; echo e >e; git checkout -qb topic; git commit -qam two; echo dirty >a',
      'app',
    );
    const second = await stage.checkpoint('s', 'm2');
    const looks = () =>
      execFileSync(
        'sh',
        ['-c', 'grep . *; git symbolic-ref HEAD; git for-each-ref; git status --porcelain'],
        {
          cwd: root,
          encoding: 'utf8',
        },
      );
    const work = looks();
    const store = join(root, '.agent-shadow/session-s/objects');
    const whole = join(stage.rootOf(sandbox), '../whole');
    const objects = looseIn(store);
    for (let at = FIRST; at < objects.length; at += STEP) {
      const object = objects[at] ?? '';
      const where = `${at} ${object.slice(store.length)}`;
      cpSync(store, whole, { recursive: true });
      stage.lies.set(sandbox, losesRestores);
      const lost = stage.rollback('s', `lost-${at}`, first.checkpointId);
      await expect(lost, where).rejects.toMatchObject({ name: 'SandboxUnavailable' });
      stage.lies.delete(sandbox);
      expect(readFileSync(join(root, 'a'), 'utf8'), where).toBe('a\n');
      // As if it had ended before these.
      stage.sh(sandbox, 'echo c 2 >c; echo d 2 >d; echo e >e', 'app');
      chmodSync(object, 0o600);
      truncateSync(object, left(readFileSync(object).length));
      stage.passMs(3_600_000);
      // Each of them is the first for some objects.
      const asked = [
        async () => expect((await stage.checkpoint('s', `next-${at}`)).complete, where).toBe(true),
        async () => {
          const there = await stage.rollback('s', `there-${at}`, first.checkpointId);
          expect([there.status, stage.sh(sandbox, 'cat a b c d; ls', 'app')], where).toEqual([
            'APPLIED',
            'a\nb\nc\nd\na\nb\nc\nd\n',
          ]);
        },
        async () => {
          const again = await stage.rollback('s', `lost-${at}`, first.checkpointId).then(
            ({ status }) => status,
            ({ name }: Error) => name,
          );
          expect(['APPLIED', 'RollbackAbandoned'], where).toContain(again);
        },
      ];
      for (const n of [0, 1, 2]) await asked[(steps(at) + n) % 3]?.();
      expect((await stage.rollback('s', `back-${at}`, second.checkpointId)).status, where).toBe('APPLIED');
      expect(looks(), where).toBe(work);
      // What no state here needs may still be torn.
      cpSync(whole, store, { recursive: true, force: true });
    }
  },
);
