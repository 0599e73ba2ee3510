/** Files of the infrastructure share a process; each takes away what it wrote. */
import { afterAll } from 'vitest';
import { discardSynthesised } from './synthesise.ts';

afterAll(discardSynthesised);
