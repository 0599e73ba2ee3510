/** What a page says of an error is for somebody who looks at a page, and may have no terminal. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { failurePage } from '../../console/pages/outcomes.ts';
import { withoutCommands } from '../../console/parts/without-commands.ts';
import { ERRORS } from '../../contract/errors.ts';
import { PROJECT } from '../../local/template.ts';

test.each([
  [
    'There is no session "walkback-demo", or its retention is over. Start one with walkback-start-session (walkback session start).',
    'There is no session "walkback-demo", or its retention is over.',
  ],
  [
    'No step "a. walkback saga b" is there; walkback saga show s shows what stands.',
    'No step "a. walkback saga b" is there',
  ],
  [
    'Rollback "r" is not finished: git ended. Call again, or walkback rehydrate --to POINT. Its files stay.',
    'Rollback "r" is not finished: git ended. Its files stay.',
  ],
  ['The file a.b is over; see 1.5 of it.', 'The file a.b is over; see 1.5 of it.'],
  ['walkback saga undo takes it back.', 'walkback saga undo takes it back.'],
  [
    'walkback-demo: 3 files stay, because they were there before. Delete what should not stay.',
    'walkback-demo: 3 files stay, because they were there before. Delete what should not stay.',
  ],
  [
    'walkback-demo/app: it is locked; wait. Look at it with walkback-changes.',
    'walkback-demo/app: it is locked; wait.',
  ],
  ['an open " quote; walkback log shows it', 'an open " quote'],
])('%s', (text, shown) => {
  expect(withoutCommands(text)).toBe(shown);
});

test('texts of the core lose their commands, and say what they are about', () => {
  const sends = /(?:'[^'\n]*\bwalkback [a-z][^'\n]*'|`[^`\n]*\bwalkback [a-z][^`\n]*`)/g;
  const texts = globSync('core/checkpoint/**/*.ts', { cwd: PROJECT })
    .flatMap((file) => readFileSync(join(PROJECT, file), 'utf8').match(sends) ?? [])
    .map((text) => text.slice(1, -1));
  expect(texts.length).toBeGreaterThan(8);
  for (const text of texts) {
    expect(withoutCommands(`It is so. ${text}`)).not.toMatch(/\bwalkback [a-z]|walkback-[a-z]| --[a-z]/);
  }
});

test('nothing else is changed', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '.', ';', ' ', '"', '\n', '-') }), (text) => {
      // An option of a command.
      fc.pre(!/(?:^|\s)--a/.test(text));
      const left = withoutCommands(text);
      expect(text.startsWith(left)).toBe(true);
      expect(text.slice(left.length).trim()).toMatch(/^;?$/);
    }),
  );
});

test('a page shows the message so where it says what to do, and whole where it does not', async () => {
  const message = 'Session "s" is gone. Rebuild it with walkback-rehydrate (walkback rehydrate --to POINT).';
  const page = String(await failurePage({ name: 'SandboxNotFound', message }).body);
  expect(page).toContain('Session &quot;s&quot; is gone.</bdi></p>');
  expect(page).toContain('What to do: the page of the session opens a review copy');
  expect(page).not.toMatch(/walkback[ -][a-z]/);
  const other = String(await failurePage({ name: 'ProofInvalid', message }).body);
  expect(other).toContain('walkback rehydrate');
});

/** No function that a page asks throws them, or nothing but a command helps. */
const OF_COMMANDS: ReadonlySet<string> = new Set([
  'ApprovalPending',
  'CheckpointIncomplete',
  'ChildUndone',
  'CloudUnavailable',
  'DataDirInUse',
  'NotConfirmed',
  'ProofInvalid',
  'ProofRequired',
  'ProofTooOld',
  'RewindUnfinished',
  'Rewound',
  'SagaParked',
  'UnwoundByParent',
]);

test('what to do is told in words of pages, and names no command or option', async () => {
  for (const name of Object.keys(ERRORS).filter((one) => !OF_COMMANDS.has(one))) {
    const page = String(await failurePage({ name, message: '' }).body);
    expect(page, name).toContain('What to do: ');
    expect(page, name).not.toMatch(/\bwalkback [a-z]|--[a-z]/);
  }
});
