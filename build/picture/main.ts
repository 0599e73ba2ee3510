/** `npm run picture`: plays the run that the README shows, and writes docs/picture.svg from what it answered. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawPicture } from './draw.ts';
import { playPictureRun } from './run.ts';

await writeFile(join(import.meta.dirname, '../../docs/picture.svg'), drawPicture(await playPictureRun()));
