/**
 * Writes down which files a run of tests was to play, and which have ended, with their seconds. So whoever cuts the
 * run can say what did not run: a killed run reports nothing itself.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { PROJECT } from '../../local/program.ts';

const DIRECTORY = join(PROJECT, 'node_modules/.cache/long-tests');
const PLANNED = join(DIRECTORY, 'planned');
const ENDED = join(DIRECTORY, 'ended');

const nameOf = ({ moduleId }: { moduleId: string }): string => relative(PROJECT, moduleId);

// oxlint-disable-next-line import/no-default-export -- how vitest takes a reporter
export default class PartReporter implements Reporter {
  onTestRunStart(files: readonly TestSpecification[]): void {
    mkdirSync(DIRECTORY, { recursive: true });
    writeFileSync(PLANNED, files.map((file) => `${nameOf(file)}\n`).join(''));
    writeFileSync(ENDED, '');
  }

  onTestModuleEnd(file: TestModule): void {
    appendFileSync(ENDED, `${nameOf(file)} ${Math.round(file.diagnostic().duration / 1000)}\n`);
  }
}
