/** The program of examples/changesets, as a reader runs it, on the embedded cloud. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { PROJECT } from '../../local/template.ts';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { sandboxIds } from '../support/world.ts';

const test = inTurn('changesets-example');

const cloud = shared(startTestCloud);

const SAID = `ada: done
bo: not done
  in a fresh copy: no currency in settings.default
bo: sent back, then done
cleo: done
ada: merged
bo: merged
cleo: ChangesetConflict
  resolved api/src/routes.js (content)
cleo: merged
msg-1: taken back in api, docs, web
`;

test('three agents work, are sent back, merged, mended and, in a part, taken back; no sandbox is left', async () => {
  const program = join(PROJECT, 'examples/changesets/run.ts');
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, WALKBACK_DATA: cloud().dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  expect(stdout).toBe(SAID);
  expect(await sandboxIds(cloud())).toEqual([]);
});
