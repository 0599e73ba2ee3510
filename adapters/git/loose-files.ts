/** Counts the files of a projects root that lie in no repository, and that git would not ignore, before they are captured. */
import { randomBytes } from 'node:crypto';
import type { LooseFiles, Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { BEGIN, guarded, makeGit } from './guarded-command.ts';
import { requireOutput, value } from './output.ts';
import { shellQuote } from './script.ts';

/** After so long, they are too many to be counted. */
const LIST_SECONDS = 20;

type Request = Parameters<Repositories['countLooseFiles']>[1];

const command = ({ include, exclude, mostFiles, maxFileBytes, timeoutMs }: Request, mark: string): string =>
  guarded(
    [
      ...BEGIN(mark),
      ...makeGit('sha1'),
      'cd -- "$root" || exit 75',
      `timeout ${LIST_SECONDS} git --work-tree="$root" ls-files -z -o --exclude-standard -x .agent-shadow ${exclude.map((pattern) => `-x ${shellQuote(pattern)}`).join(' ')} >"$here/list" 2>"$here/err"`,
      'case $? in 0) ;; 124|143) say files over; answer ;; *) fault "git cannot list the files" ;; esac',
      // Ignored files that the session asks for by name.
      ...(include.length === 0
        ? []
        : [
            `timeout ${LIST_SECONDS} env -u GIT_LITERAL_PATHSPECS git --work-tree="$root" --glob-pathspecs ls-files -z -o -i --exclude-standard -- ${include.map(shellQuote).join(' ')} >>"$here/list" 2>"$here/err"`,
            'case $? in 0) ;; 124|143) say files over; answer ;; *) fault "git cannot list the files" ;; esac',
          ]),
      // Another repository is listed as a directory.
      `tr '\\n\\000' '_\\n' <"$here/list" | grep -vc '/$' >"$here/count"`,
      'read -r files <"$here/count" || fault "the files cannot be counted"',
      'say files "$files"',
      `if [ "$files" -gt ${mostFiles} ]; then answer; fi`,
      'bytes=0',
      // 123: some are gone meanwhile.
      'xargs -0 stat -c %s -- <"$here/list" >"$here/sizes" 2>"$here/err"; case $? in 0|123) ;; *) fault "the sizes of the files cannot be read" ;; esac',
      `while read -r size; do [ "$size" -gt ${maxFileBytes} ] || bytes=$((bytes + size)); done <"$here/sizes"`,
      'say bytes "$bytes"',
      'answer',
    ].join('\n'),
    timeoutMs,
  );

const count = (text = ''): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

/** One round trip. Throws `SandboxUnavailable` (retryable), `SandboxUnsupported`, or what the sandbox adapter throws. */
export const countLooseFiles: Repositories['countLooseFiles'] = async (
  sandbox,
  request,
): Promise<LooseFiles> => {
  const mark = `walkback-${randomBytes(9).toString('hex')}`;
  const { projectsRoot, timeoutMs } = request;
  const result = await sandbox.run(command(request, mark), { cwd: projectsRoot, timeoutMs });
  const { pairs } = requireOutput(result, mark);
  return { files: count(value(pairs, 'files')), bytes: count(value(pairs, 'bytes')) };
};
