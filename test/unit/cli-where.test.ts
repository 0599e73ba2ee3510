/** Commands that are printed to be copied ask the cloud that the one that printed them was told to ask. */
import { expect, test } from 'vitest';
import { CliError, describeFailure } from '../../cli/failure.ts';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { forkedSession } from '../../cli/view/merge-view.ts';
import { failureThere, withWhere } from '../../cli/where-words.ts';

const data = '/my data';
const D = "--data '/my data'";

test.each([
  ['walkback saga watch s-1 waits again', `walkback ${D} saga watch s-1 waits again`],
  [
    'walkback saga resolve s 1 --evidence TEXT, or walkback saga skip s 1 --reason TEXT',
    `walkback ${D} saga resolve s 1 --evidence TEXT, or walkback ${D} saga skip s 1 --reason TEXT`,
  ],
  ['is walkback up running?', `is walkback ${D} up running?`],
  // Functions, packages, and what a person wrote.
  [
    'call walkback-rehydrate, or npm i -D @walkback/cli',
    'call walkback-rehydrate, or npm i -D @walkback/cli',
  ],
  ["walkback rewind --guidance 'say walkback up'", `walkback ${D} rewind --guidance 'say walkback up'`],
  ["--guidance 'don'\\''t walkback up'", "--guidance 'don'\\''t walkback up'"],
])('%s', (text, said) => {
  expect(withWhere(text, { data })).toBe(said);
  expect(withWhere(said, { data }), 'once').toBe(said);
  expect(withWhere(text, {})).toBe(text);
});

test('what starts and stops the cloud of this machine has no word for another', () => {
  const text = 'is walkback up running? walkback down, then walkback log';
  expect(withWhere(text, { aws: true })).toBe(
    'is walkback up running? walkback down, then walkback --aws log',
  );
  expect(withWhere(text, { data, local: true })).toBe(
    `is walkback ${D} up running? walkback ${D} down, then walkback ${D} --local log`,
  );
});

test('the hint of an error too, its own and that of its name', () => {
  const own = new CliError('StillRunning', 'It runs.', { hint: 'walkback saga watch s waits again' });
  expect(failureThere(describeFailure(own), { aws: true }).hint).toBe(
    'walkback --aws saga watch s waits again',
  );
  const named = Object.assign(new Error('There is none.'), { name: 'SessionNotFound' });
  expect(failureThere(describeFailure(named), { local: true }).hint).toBe(
    'walkback --local session list shows the sessions',
  );
});

test('what a fork says to be copied', () => {
  const where = { data };
  const fork = {
    sessionId: 'f',
    epoch: 1,
    sandboxId: 'wb1',
    projectsRoot: '/p',
    checkpointId: 'cp-00000001-0badcafe',
    forkedFrom: { sessionId: 's', checkpointId: 'cp-00000003-0badcafe' },
    prompt: '',
    repositories: [],
    warnings: [],
  };
  const told = forkedSession(fork, { directory: '/d', where, paint: createPaint(false) });
  expect(told.match(/walkback .*/g)).toEqual([
    `walkback ${D} checkpoint --session f --message MESSAGE`,
    `walkback ${D} merge f --into s`,
    `walkback ${D} session end f --discard`,
  ]);
});
