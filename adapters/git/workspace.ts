/** Looks at a sandbox as a place to work in, and runs single commands there. */
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import type { Workspaces } from '../../core/checkpoint/ports/workspace.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import type { SandboxProgram } from './program/call.ts';

/** Bytes of a command's output that are answered, and bytes that the sandbox keeps while it runs. */
const HEAD_BYTES = 2048;
const TAIL_BYTES = 6144;
const KEPT_BYTES = 16 * 1024 * 1024;
/** Time for ending what ignores the request to end, and for the answer. */
const AFTER_MS = 20_000;

export const createWorkspaces = (program: SandboxProgram): Workspaces => ({
  /**
   * Looks in the projects root, or in the nearest directory above it that exists. Not every sandbox takes paths
   * in a command as its own, so the directory is given as the one in which the command begins.
   */
  async look(sandbox, { projectsRoot, needs, timeoutMs }) {
    const parts = projectsRoot.split('/').filter((part) => part !== '');
    for (let depth = parts.length; ; depth--) {
      const directory = `/${parts.slice(0, depth).join('/')}`;
      const below = parts[depth] ?? '';
      try {
        const { canMake, freeBytes, freeInodes, ...facts } = await program.call(
          sandbox,
          { kind: 'preflight', below, needs: [...needs] },
          SANDBOX_REPORTS.preflight,
          { projectsRoot: directory, timeoutMs },
        );
        return {
          ...facts,
          needs: facts.needs.map(({ tool, at }) => ({ tool, at: at ?? null })),
          canMakeIn: canMake ? directory : null,
          freeBytes: freeBytes ?? null,
          freeInodes: freeInodes ?? null,
        };
      } catch (error) {
        if (depth === 0 || !isWalkbackError(error, 'ProjectsRootNotFound')) throw error;
      }
    }
  },

  async askRemotes(sandbox, { projectsRoot, paths, timeoutMs }) {
    const command = { kind: 'ask-remotes' as const, paths: [...paths] };
    const where = { projectsRoot, timeoutMs };
    return (await program.call(sandbox, command, SANDBOX_REPORTS['ask-remotes'], where)).remotes;
  },

  async runCommand(sandbox, { projectsRoot, command, directory, seconds }) {
    const { ended } = await program.call(
      sandbox,
      {
        kind: 'run',
        command,
        directory,
        seconds,
        headBytes: HEAD_BYTES,
        tailBytes: TAIL_BYTES,
        keptBytes: KEPT_BYTES,
      },
      SANDBOX_REPORTS.run,
      { projectsRoot, timeoutMs: seconds * 1000 + AFTER_MS },
    );
    return ended === undefined ? { kind: 'no-directory' } : { kind: 'ended', ...ended };
  },
});
