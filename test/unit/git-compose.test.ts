/** What the adapter makes of the answer of a composition. */
import { expect, test } from 'vitest';
import { composeFindings } from '../../adapters/git/program/compose-report.ts';
import { CONFLICT_KINDS } from '../../contract/rollback-answers.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

const answerWith = (kind: string): Parameters<typeof composeFindings>[0] => ({
  repositories: [
    {
      path: 'app',
      state: 'captured',
      failures: [],
      conflicts: [{ path: 'src/a.ts', kind, message: 'both changed it' }],
      unknownPaths: [],
      isMissing: false,
      isUnsupported: false,
      isHostKept: false,
      isHostTaken: false,
      warnings: [],
    },
  ],
});

test.each([...CONFLICT_KINDS])('a conflict of kind %s is told as it is', (kind) => {
  expect(composeFindings(answerWith(kind)).conflicts).toEqual([
    { repository: 'app', path: 'src/a.ts', kind, message: 'both changed it' },
  ]);
});

test.each([
  ['that nobody knows', 'CONFLICT (submodule history not available)'],
  ['of other letters', 'Content'],
  ['that is empty', ''],
  ['of an object', '__proto__'],
])('a kind %s is refused by name, never taken for another one', (_, kind) => {
  let thrown: unknown;
  try {
    composeFindings(answerWith(kind));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(WalkbackError);
  expect(thrown).toMatchObject({
    name: 'CaptureFailed',
    retryable: false,
    message: expect.stringContaining(`in app/src/a.ts whose kind is not known ("${kind}")`),
  });
});
