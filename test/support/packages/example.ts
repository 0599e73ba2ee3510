/** A newcomer's first program, as it stands in an empty directory beside the packages; `tsc --strict` compiles it there. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Walkback } from 'walkback';
import { defineTool, manifestOf } from 'walkback/kit';
import { testToolIsSafe } from 'walkback/kit/testing';
import * as z from 'zod';

const root = mkdtempSync(join(process.cwd(), 'work-'));
execFileSync('git', ['init', '-q', root]);
const notes = join(root, 'notes.txt');
writeFileSync(notes, 'kept\n');

const walkback = new Walkback();
const session = await walkback.sessions.start({ root });
await session.checkpoint({ messageId: 'msg-1' });
writeFileSync(notes, 'lost\n');
const plan = await session.plan({ to: 'msg-1' });
await plan.apply();
const back = readFileSync(notes, 'utf8');

const tool = defineTool({
  name: 'add',
  version: '1',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  effect: 'read',
  execute: async ({ a, b }) => ({ sum: a + b }),
});
const { name } = manifestOf(tool, 'add');
process.stdout.write(`${JSON.stringify({ back, name, safe: typeof testToolIsSafe })}\n`);
