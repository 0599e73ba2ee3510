/** A session over one repository, and of what kind the origins of its lines are. */
import type { BlameAnswer } from '../../contract/blame.ts';
import type { GitStage } from './git-stage.ts';

export const BEGIN =
  'git init -q -b main . && printf "one\\ntwo\\nthree\\n" > a.txt && git add -A && git commit -qm begin';

/** A session over one repository, in which `script` ran before it began. */
export const open = async (stage: GitStage, sessionId: string, script = BEGIN): Promise<string> => {
  const sandbox = await stage.addSandbox();
  stage.sh(sandbox, `mkdir app && cd app && ${script}`);
  await stage.start(sessionId, sandbox);
  return sandbox;
};

export const kindsOf = ({ lines, origins }: BlameAnswer) => lines.map(({ origin }) => origins[origin]?.kind);
