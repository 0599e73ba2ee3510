/**
 * Where the program's own files are: in a checkout, or in a package, whose modules lie beside everything that
 * was built.
 */
import { dirname } from 'node:path';

/** In a user's CommonJS bundle this is undefined. */
const { url }: { url?: string } = import.meta;

export const IS_PACKAGED = url === undefined || !url.endsWith('.ts');
/** The checkout, or the folder of the package's modules. */
export const PROJECT = IS_PACKAGED ? import.meta.dirname : dirname(import.meta.dirname);
