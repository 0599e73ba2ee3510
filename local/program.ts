/** Where the program's own files are: a checkout's, or a package's, whose modules lie beside what was made of the rest. */
import { dirname } from 'node:path';

/** In somebody's bundle that is CommonJS there is none. */
const { url }: { url?: string } = import.meta;

export const IS_PACKAGED = url === undefined || !url.endsWith('.ts');
/** The checkout, or the folder of the package's modules. */
export const PROJECT = IS_PACKAGED ? import.meta.dirname : dirname(import.meta.dirname);
