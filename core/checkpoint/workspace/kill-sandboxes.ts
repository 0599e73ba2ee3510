/**
 * Kills a sandbox that was made for one call, and any that a lost or repeated answer made under the same tags. An error here
 * is only logged: such a sandbox was given a short life.
 */
import type { Log } from '../../shared/surroundings.ts';
import type { Sandboxes, SandboxTags } from '../ports/sandbox.ts';

const TRIES = 3;

export const killSandboxes = async (
  { sandboxes, log }: { sandboxes: Pick<Sandboxes, 'find' | 'kill'>; log: Log },
  tags: SandboxTags,
  known?: string,
): Promise<void> => {
  const tried = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (attempt < TRIES) continue;
        log.warn(what, { tags, reason: String(error) });
        return undefined;
      }
    }
  };
  if (known !== undefined) await tried('sandbox not killed', () => sandboxes.kill(known));
  const found = (await tried('sandboxes not looked for', () => sandboxes.find(tags))) ?? [];
  for (const { sandboxId } of found) {
    if (sandboxId !== known) await tried('sandbox not killed', () => sandboxes.kill(sandboxId));
  }
};
