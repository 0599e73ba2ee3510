/** The picture of the README shows what a fresh run answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drawPicture } from '../../build/picture/draw.ts';
import { playPictureRun } from '../../build/picture/run.ts';
import { PROJECT } from '../../local/template.ts';

test('docs/picture.svg shows what its run answers now (npm run picture)', async () => {
  const run = await playPictureRun();
  expect(run.rewound.repositories).toEqual(run.before.repositories);
  expect(run.worked.repositories).not.toEqual(run.before.repositories);
  expect(run.rewound.payments).toEqual([
    { kind: 'payment', cents: 4200 },
    { kind: 'refund', cents: 4200 },
  ]);
  expect(readFileSync(join(PROJECT, 'docs/picture.svg'), 'utf8')).toBe(drawPicture(run));
});
