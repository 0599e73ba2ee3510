/** `npm run bench:checkpoints`: thousands of checkpoints of many sessions. */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { readArguments, wholeNumber } from './arguments.ts';
import { measureLoad } from './checkpoints/load.ts';
import { createPlace } from './place.ts';

const USAGE = `usage: npm run bench:checkpoints -- [--checkpoints N] [--sessions N] [--at-once N] [--minutes N]
  20,000 checkpoints of 100 sessions, 20 at once, unless something else is said; most of an hour.
  After N --minutes no further checkpoint is begun, and the table says how many there were.
  --sessions 1 --checkpoints 10000 makes one long chain`;

const read = () =>
  parseArgs({
    options: {
      checkpoints: { type: 'string', default: '20000' },
      sessions: { type: 'string', default: '100' },
      'at-once': { type: 'string', default: '20' },
      minutes: { type: 'string' },
    },
  }).values;
const count = (text: string): number => wholeNumber(text, USAGE);

const values = readArguments(read, USAGE);
const load = {
  checkpoints: count(values.checkpoints),
  sessions: count(values.sessions),
  atOnce: count(values['at-once']),
  minutes: values.minutes === undefined ? undefined : count(values.minutes),
};
await using place = await createPlace();
const table = new Table({ style: { head: [], border: [] } });
table.push(...(await measureLoad(place, load)).map((row) => [...row]));
process.stdout.write(`${table.toString()}\n`);
