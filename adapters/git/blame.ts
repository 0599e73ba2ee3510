/** Asks git in a sandbox who wrote the lines of a file, and in which repositories a path is a file. */
import { randomBytes } from 'node:crypto';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { blameCommand, findFileCommand } from './blame-command.ts';
import { blameReport, foundFiles } from './blame-output.ts';
import { incomingDirectory } from './call-folders.ts';
import { requireOutput } from './output.ts';
import { releasingAfterFailure } from './release.ts';
import { incomingFiles } from './restore.ts';

const random = (): string => randomBytes(9).toString('hex');

/**
 * One round trip each; one more when bundles are brought in, or the history is long. Throws `SandboxUnavailable`
 * (retryable), `SandboxUnsupported`, or what the sandbox adapter throws.
 */
export const blaming: Pick<Repositories, 'blame' | 'findFile'> = {
  blame: async (sandbox, request) => {
    const { projectsRoot, sessionId, bundles, timeoutMs } = request;
    const [call, nonce, mark] = [random(), random(), `walkback-${random()}`];
    const directory = incomingDirectory(request, call);
    const incoming = incomingDirectory({ projectsRoot: '.', sessionId }, call);
    const { command, files } = blameCommand(request, { mark, nonce, incoming });
    const ahead = [
      // Each as it is: what is brought is for this call alone.
      ...incomingFiles(
        directory,
        bundles.map((bundle) => ({ ...bundle, how: bundle.kind })),
      ),
      ...files.map(({ name, data }) => ({ path: `${directory}/${name}`, data })),
    ];
    const ask = async () => {
      if (ahead.length > 0) await sandbox.writeFiles(ahead);
      const result = await sandbox.run(command, { cwd: projectsRoot, timeoutMs });
      const { pairs, rest } = requireOutput(result, mark);
      return blameReport({ pairs, rest }, request, nonce);
    };
    return ahead.length === 0 ? ask() : releasingAfterFailure(sandbox, { ...request, held: call }, ask);
  },

  findFile: async (sandbox, request) => {
    const mark = `walkback-${random()}`;
    const { projectsRoot, timeoutMs, trees } = request;
    const result = await sandbox.run(findFileCommand(request, mark), { cwd: projectsRoot, timeoutMs });
    return foundFiles(
      requireOutput(result, mark).pairs,
      trees.map(({ path }) => path),
    );
  },
};
