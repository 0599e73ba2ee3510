/** Fresh sandboxes, and bundles for what broke off. */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { LINK_LIMITS } from '../../adapters/git/join-links.ts';
import { createRestore } from '../../adapters/git/program/restore.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { world } from '../support/git-repositories.ts';
import { restoreRequest } from '../support/restore-request.ts';
import { inTurn } from '../support/sampled-test.ts';
import { programHere } from '../support/sandbox-program.ts';

const test = inTurn('git-fresh');

const MAKE = (path: string): string =>
  `mkdir -p ${path}; (cd ${path}; git init -q -b main .; mkdir -p d/e; echo one >d/e/f; echo top >top; ln -s d l; git add -A; git commit -qm one; chmod 700 d; chmod 600 top; echo later >later; mkdir hollow)`;

const rebuilt = async (
  harness: Harness,
  snapshot: Snapshot,
  looks: string[],
  template = '',
): Promise<void> => {
  const { outcome, problems } = await harness.rehydrate(snapshot, template);
  expect([outcome, problems]).toEqual(['applied', []]);
  expect(world(harness, NAMES)).toEqual(looks);
};
const NAMES = ['app', 'app/vendor/in', 'app/vendor/in/deep', 'web'];

test('repositories inside others come into a fresh sandbox, whatever its template holds', async () => {
  await using harness = await createHarness();
  harness.sh(NAMES.map(MAKE).join('; '));
  harness.sh('umask 077; mkdir app/private; echo p >app/private/p');
  const snapshot = await harness.capture();
  const looks = world(harness, NAMES);
  await rebuilt(harness, snapshot, looks);
  await rebuilt(harness, snapshot, looks, `${MAKE('app/vendor')}; ${MAKE('web')}; echo old >app/top`);
  expect(harness.sh('cat .agent-shadow/replaced-s1/*/top | sort')).toBe('old\ntop\n');
});

test('a directory that holds only a repository gets its mode', async () => {
  await using harness = await createHarness();
  harness.sh(`${MAKE('app')}; ${MAKE('app/vendor/in')}; chmod 711 app/vendor`);
  const snapshot = await harness.capture();
  const looks = world(harness, ['app', 'app/vendor/in']);
  const { outcome, problems } = await harness.rehydrate(snapshot);
  expect([outcome, problems]).toEqual(['applied', []]);
  expect(world(harness, ['app', 'app/vendor/in'])).toEqual(looks);
});

test('a checkpoint without a repository makes the projects root', async () => {
  await using harness = await createHarness();
  harness.sh('git init -q -b main app');
  await harness.capture();
  harness.sh('rm -rf app');
  const report = await harness.rehydrate(await harness.capture());
  expect([report.outcome, report.repositories]).toEqual(['applied', []]);
});

test('one that comes without bundles is refused, and is made when they are brought', async () => {
  await using harness = await createHarness();
  harness.sh(MAKE('app'));
  const snapshot = await harness.capture();
  const looks = world(harness, ['app']);
  harness.sh('rm -rf app');
  const [one] = snapshot.repositories;
  const state = { tree: one?.tree ?? '', meta: one?.meta ?? '' };
  const request = (bundles: BundleSource[]) => restoreRequest(harness.root, state, { bundles });
  const { restore } = createRestore(programHere(), LINK_LIMITS);
  const refused = await restore(harness.sandbox, request([]));
  expect([refused.outcome, refused.problems.map(({ kind }) => kind)]).toEqual([
    'refused',
    ['missing-objects'],
  ]);
  expect(existsSync(`${harness.root}/app`)).toBe(false);
  const made = await restore(harness.sandbox, request(snapshot.chains.get('app') ?? []));
  expect([made.outcome, made.problems]).toEqual(['applied', []]);
  expect(world(harness, ['app'])).toEqual(looks);
});

test('what broke off is put back with objects that the sandbox lost', async () => {
  await using harness = await createHarness();
  harness.sh(`${MAKE('app')}; ${MAKE('web')}`);
  const target = await harness.capture();
  harness.sh(
    'for r in app web; do (cd $r; echo two >d/e/f; echo two >top; rm later; git add -A; git commit -qm two); done',
  );
  const undo = await harness.capture();
  const after = world(harness, ['app', 'web']);
  // Some files reached the target, and then the shadows went.
  harness.sh(
    'echo one >app/d/e/f; echo later >web/later; chmod 644 web/later; rm -rf app/.agent-shadow web/.agent-shadow',
  );
  const { report } = await harness.settle(undo, target);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(report.settled).toMatchObject({ reached: 2, kept: [] });
  expect(world(harness, ['app', 'web'])).toEqual(after);
});
