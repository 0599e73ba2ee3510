/**
 * Git inside a sandbox, by commands that each handle every repository in one round trip. Needs in the sandbox: bash 4.4,
 * git 2.25, GNU coreutils and findutils, flock; curl for bundles over the inline size.
 */
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { capture } from './capture.ts';
import { diff, directories, survey } from './inspect.ts';
import { carry, restore } from './restore.ts';

export const createRepositories = (): Repositories => ({
  survey,
  capture,
  carry,
  restore,
  directories,
  diff,
});
