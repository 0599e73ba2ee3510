/** Finds out from which files a module and its imports were read, and whether one of them was edited since. */
import { statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Path, and time of the last write. Packages that npm installed are left out: they can be thousands of files,
 * and nobody edits them.
 */
export type LoadedFile = readonly [path: string, writtenMs: number | undefined];

const INSTALLED = /[/\\]node_modules[/\\]/;

export const writtenMs = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.mtimeMs;

/**
 * Notes what this thread loads from now on. The returned function gives what was loaded since it was last
 * called. It gives nothing on a Node that cannot tell (before 22.15).
 */
export const noteLoadedFiles = (): (() => LoadedFile[]) => {
  let loaded: LoadedFile[] = [];
  // In an older Node it is not a function, whatever the types say.
  const { registerHooks }: { registerHooks?: typeof module.registerHooks } = module;
  registerHooks?.({
    load: (url, context, nextLoad) => {
      if (url.startsWith('file:') && !INSTALLED.test(url)) {
        const path = fileURLToPath(url);
        // Before the file is read, so that an edit in between makes it another version than the noted one.
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
