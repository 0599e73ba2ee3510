/** Asks in a sandbox who wrote the lines of a file, and in which repositories a path is a file. */
import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { SandboxCommand } from '../../../contract/sandbox/requests.ts';
import type { BlamedBy, BlameReport, BlameRequest } from '../../../core/checkpoint/ports/blame.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import { clip } from '../../../core/shared/clip.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { incomingDirectory } from '../call-folders.ts';
import { incomingFiles } from '../incoming-files.ts';
import { releasingAfterFailure } from '../release.ts';
import { carryingWithoutCurl } from './bring-in.ts';
import type { SandboxProgram } from './call.ts';

type Command = Extract<SandboxCommand, { kind: 'blame' }>;
type Report = z.infer<(typeof SANDBOX_REPORTS)['blame']>;
type Lines = Extract<Report, { kind: 'lines' }>;
type Source = Lines['sources'][number];

/** Characters of what a commit says. */
const MOST_SAID = 256;

const unreadable = (why: string): WalkbackError =>
  new WalkbackError('SandboxUnavailable', `The sandbox did not say who wrote the file: ${why}. Call again.`, {
    retryable: true,
  });

const isoTime = (seconds: number): string => {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? new Date(0).toISOString() : at.toISOString();
};

const requireNode = (node: number, { nodes }: BlameRequest): number => {
  if (node >= nodes.length) throw unreadable('it names a capture that was not asked about');
  return node;
};

const blamedBy = (source: Source, request: BlameRequest): BlamedBy => {
  if ('node' in source) return { node: requireNode(source.node, request), path: source.path };
  const { commit, author, authoredAt, summary, path } = source;
  return {
    commit,
    author: clip(author, MOST_SAID),
    authoredAt: isoTime(authoredAt),
    summary: clip(summary, MOST_SAID),
    path,
  };
};

const linesReport = (report: Lines, request: BlameRequest): BlameReport => {
  const { total, lines, sources } = report;
  const most = Math.min(request.mostLines, Math.max(0, (request.to ?? total) - request.from + 1));
  if (lines.length > most || lines.some(({ source }) => source >= sources.length))
    throw unreadable('its answer has other lines');
  return { ...report, sources: sources.map((one) => blamedBy(one, request)) };
};

/** It comes from the sandbox, so nothing of it is trusted (C10). */
const blameReport = (report: Report, request: BlameRequest): BlameReport => {
  switch (report.kind) {
    case 'missing':
      return { ...report, nodes: report.nodes.map((node) => requireNode(node, request)) };
    case 'absent': {
      const { kind, removedBy } = report;
      return { kind, ...(removedBy && { removedBy: blamedBy(removedBy, request) }) };
    }
    case 'lines':
      return linesReport(report, request);
    case 'directory':
    case 'link':
    case 'submodule':
    case 'binary':
    case 'too-large':
      return report;
  }
};

const blameCommand = (request: BlameRequest, call: string): Command => ({
  kind: 'blame',
  sessionId: request.sessionId,
  call,
  path: request.path,
  objectFormat: request.objectFormat,
  file: request.file,
  nodes: request.nodes.map(({ tree, parents, commit = null }) => ({ tree, parents: [...parents], commit })),
  bases: [...request.bases],
  shallow: request.shallow,
  from: request.from,
  to: request.to ?? null,
  mostLines: request.mostLines,
  maxFileBytes: request.maxFileBytes,
  bundles: request.bundles.map(({ sha256 }) => sha256),
});

/**
 * One round trip each; one more when bundles are brought in, or the request is long. Throws `SandboxUnavailable`
 * (retryable), `SandboxUnsupported`, `BundleCorrupt`, or what the sandbox adapter throws.
 */
export const createBlaming = (program: SandboxProgram): Pick<Repositories, 'blame' | 'findFile'> => ({
  async blame(sandbox, request) {
    const call = randomBytes(9).toString('hex');
    // Each as it is: what is brought is for this call alone.
    const bundles = request.bundles.map((bundle) => ({ ...bundle, how: bundle.kind }));
    const directory = incomingDirectory(request, call);
    const files = incomingFiles(directory, bundles);
    const ask = async (): Promise<BlameReport> => {
      if (files.length > 0) await sandbox.writeFiles(files);
      const command = blameCommand(request, call);
      const report = await carryingWithoutCurl(sandbox, directory, bundles, () =>
        program.call(sandbox, command, SANDBOX_REPORTS.blame, request),
      );
      return blameReport(report, request);
    };
    return files.length === 0 ? ask() : releasingAfterFailure(sandbox, { ...request, held: call }, ask);
  },

  async findFile(sandbox, request) {
    const { sessionId, file, trees } = request;
    const { paths } = await program.call(
      sandbox,
      { kind: 'find-file', sessionId, file, trees: trees.map(({ path, tree }) => ({ path, tree })) },
      SANDBOX_REPORTS['find-file'],
      request,
    );
    return trees.map(({ path }) => path).filter((path) => paths.includes(path));
  },
});
