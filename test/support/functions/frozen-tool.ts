/**
 * A process whose calls end in time: a call is ended a second after its deadline. It is frozen right after them, as a
 * function is between two calls.
 */
import { writeSync } from 'node:fs';
import { createInstanceWatch } from '../../../kit/watch-instance.ts';

/** So many that the watching thread has not heard of all of them. */
const CALLS = 20_000;

const watch = createInstanceWatch();
// Long enough for all of this on a busy machine.
const deadlineMs = Date.now() + 1500;
const ends = Array.from({ length: CALLS }, () => watch(deadlineMs));
for (const end of ends) end();
writeSync(1, 'ended\n');
process.kill(process.pid, 'SIGSTOP');
// The next call. Nothing tells when the other thread has read all that it was sent, so it gets time for it.
await new Promise((resolve) => setTimeout(resolve, 500));
writeSync(1, 'lives\n');
