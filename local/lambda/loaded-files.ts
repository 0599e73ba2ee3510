/** Which files a module and all that it imports were read from, and whether one of them was edited since. */
import { statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** Path and time of the last write. What npm installed is not looked at: it can be thousands of files, and nobody edits it. */
export type LoadedFile = readonly [path: string, writtenMs: number | undefined];

const INSTALLED = /[/\\]node_modules[/\\]/;

export const writtenMs = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.mtimeMs;

/**
 * Notes what this thread loads from now on. The answer gives what was loaded since it was last asked: nothing where Node
 * cannot tell (before 22.15).
 */
export const noteLoadedFiles = (): (() => LoadedFile[]) => {
  let loaded: LoadedFile[] = [];
  // Of an older Node it is no function, whatever the types of this one say.
  const { registerHooks }: { registerHooks?: typeof module.registerHooks } = module;
  registerHooks?.({
    load: (url, context, nextLoad) => {
      if (url.startsWith('file:') && !INSTALLED.test(url)) {
        const path = fileURLToPath(url);
        // Before it is read: an edit in between makes it another file than the one noted.
        loaded.push([path, writtenMs(path)]);
      }
      return nextLoad(url, context);
    },
  });
  return () => {
    const since = loaded;
    loaded = [];
    return since;
  };
};

export const isEdited = (files: readonly LoadedFile[]): boolean =>
  files.some(([path, then]) => writtenMs(path) !== then);
