/** Settings of a repository name commands. No command of Walkback starts them, whatever it looks at or moves. */
import { chmodSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { commandPath } from '../support/command-path.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { programHere } from '../support/sandbox-program.ts';

/** Others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-runs-nothing', 3);

/** Bash that names the command `$evil` in the settings, and gives git a reason to start it. */
const REASONS: Record<string, string> = {
  'a filter': `echo '* filter=plain' > .gitattributes; git config filter.plain.clean "$evil"; echo y > a.txt`,
  'a filter with an equals sign in its name': `echo '* filter=a=b' > .gitattributes; git config --file .git/config 'filter.a=b.clean' "$evil"; git config --file .git/config 'filter.a=b.required' true; echo y > a.txt`,
  'a filter with a quote and a backslash in its name': `echo '* filter=a"b\\c' > .gitattributes; git config --file .git/config 'filter.a"b\\c.process' "$evil"; echo y > a.txt`,
  'a fetch of what a partial clone lacks': `promisor; git config remote.origin.url "$PWD/../other"; git config remote.origin.uploadpack "$evil"`,
  'a fetch by ssh': `promisor; git config remote.origin.url ssh://nowhere.invalid/x; git config core.sshCommand "$evil"`,
};

/** The tree of the commit before is in no store of objects. */
const PROMISOR = `promisor() {
  git commit -qam again --allow-empty; echo three > three; git add three; git commit -qm three
  git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
  git init -q --bare ../other
  tree=$(git rev-parse 'HEAD^{tree}'); rm -f .git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-)
}`;

describe.each(Object.entries(REASONS))('%s', (_, reason) => {
  // An older git does not know what forbids it to fetch. It looks the same as one that is not told.
  test.for(['this git', 'an older git'])('is not started with %s', async (which) => {
    await using harness = await withTwoFiles(['app']);
    const { home } = harness;
    const script = (name: string, text: string) => {
      writeFileSync(`${home}/${name}`, `#!/bin/sh\n${text}\n`);
      chmodSync(`${home}/${name}`, 0o755);
    };
    script('evil', `touch ${home}/STARTED; exit 1`);
    if (which === 'an older git') script('git', `unset GIT_NO_LAZY_FETCH; exec ${commandPath('git')} "$@"`);
    harness.sandbox = processSandbox({ PATH: `${home}:${process.env['PATH'] ?? ''}`, HOME: home });
    const first = await harness.capture();
    harness.sh(`evil=~/evil; ${PROMISOR}; ${reason}; rm -f ${home}/STARTED`, 'app');
    const started = () => harness.sh('ls ~ | grep STARTED || true').trim();
    const about = { projectsRoot: harness.root, timeoutMs: 60_000 };
    const repositories = createRepositories(programHere());
    await repositories.survey(harness.sandbox, { ...about, maxDepth: 4, detail: true });
    expect(started(), 'by the survey').toBe('');
    await repositories.directories(harness.sandbox, { ...about, paths: ['app'], maxEntries: 50 });
    await harness.capture();
    expect(started(), 'by a capture').toBe('');
    await harness.rollback(first);
    expect(started(), 'by a rollback').toBe('');
  });
});
