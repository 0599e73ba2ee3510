/** The shadows of the native program in a comparison with the scripts: where they lie, and what comes into them. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is used of a harness. */
interface Harness {
  top: string;
  root: string;
  sh: (script: string, directory?: string) => string;
}

/** The objects of a target are in the scripts' shadow alone when another session made it. */
export const bringTarget = (harness: Harness, session: string, path: string, tree: string): void => {
  if (!existsSync(join(harness.root, path, '.agent-shadow', `session-${session}`, 'objects'))) return;
  harness.sh(
    `cd .agent-shadow; git --git-dir=session-${session} cat-file -e ${tree} 2>/dev/null || {
      echo ${tree} | git --git-dir=session-s1 pack-objects -q --revs --stdout 2>/dev/null | git --git-dir=session-${session} unpack-objects -q 2>/dev/null || :; }`,
    path,
  );
};

/**
 * Between two looks the native shadows lie elsewhere, so that what the scripts do is not disturbed: they remove a directory
 * only when nothing of others is in it.
 */
const moved = (harness: Harness, session: string, paths: readonly string[], isBack: boolean): void => {
  mkdirSync(join(harness.top, 'native'), { recursive: true });
  for (const path of paths) {
    const here = join(harness.root, path, '.agent-shadow', `session-${session}`);
    const there = join(harness.top, 'native', path.replaceAll('/', '%'));
    const [from, to] = isBack ? [there, here] : [here, there];
    if (!existsSync(from) || !existsSync(dirname(to))) continue;
    rmSync(to, { recursive: true, force: true });
    renameSync(from, to);
  }
};
export const comeBack = (harness: Harness, session: string, paths: readonly string[]): void =>
  moved(harness, session, paths, true);
export const stepAside = (harness: Harness, session: string, paths: readonly string[]): void =>
  moved(harness, session, paths, false);

/**
 * The restores of the scripts note in the shadow that they share with captures which files were captured and are ignored by
 * now. The native shadow of a comparison gets the same after a way back.
 */
export const shareOutlawed = (harness: Harness, session: string, paths: readonly string[]): void => {
  for (const path of paths) {
    const own = join(harness.root, path, '.agent-shadow');
    const [from, to] = [join(own, 'session-s1/outlawed'), join(own, `session-${session}/outlawed`)];
    if (!existsSync(from) || !existsSync(dirname(to))) continue;
    const lists = [from, to].map((file) => (existsSync(file) ? readFileSync(file, 'latin1') : ''));
    const names = [...new Set(lists.join('').split('\0'))].filter((name) => name !== '');
    writeFileSync(
      to,
      names
        .toSorted()
        .map((name) => `${name}\0`)
        .join(''),
      'latin1',
    );
  }
};
