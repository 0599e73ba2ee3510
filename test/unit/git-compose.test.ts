/** What the adapter makes of the answer of a composition. */
import { expect, test } from 'vitest';
import { composeFindings } from '../../adapters/git/compose-command.ts';
import { CONFLICT_KINDS } from '../../contract/rollback-answers.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

const conflictOf = (kind: string | undefined) =>
  [
    ['repo', 'app'],
    ['conflict-path', 'src/a.ts'],
    ...(kind === undefined ? [] : [['conflict-kind', kind] as const]),
    ['conflict-message', 'both changed it'],
    ['state', 'captured'],
  ] as [string, string][];

test.each([...CONFLICT_KINDS])('a conflict of kind %s is told as it is', (kind) => {
  expect(composeFindings(conflictOf(kind)).conflicts).toEqual([
    { repository: 'app', path: 'src/a.ts', kind, message: 'both changed it' },
  ]);
});

test.each([
  ['that nobody knows', 'CONFLICT (submodule history not available)'],
  ['of other letters', 'Content'],
  ['that is empty', ''],
  ['that was not said', undefined],
  ['of an object', '__proto__'],
])('a kind %s is refused by name, never taken for another one', (_, kind) => {
  let thrown: unknown;
  try {
    composeFindings(conflictOf(kind));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(WalkbackError);
  expect(thrown).toMatchObject({
    name: 'CaptureFailed',
    retryable: false,
    message: expect.stringContaining(`in app/src/a.ts whose kind is not known ("${kind ?? ''}")`),
  });
});
