/** The state of a head, compressed: uncompressed, it would often need a second write unit in each transaction. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod';

/**
 * Text that nearly every state contains, so that the compressed state only refers to it. It is part of the
 * format: another text would make stored states unreadable.
 */
const DICTIONARY = Buffer.from(
  [
    '"unreached":0,"sinceMs":17,"kind":"resource","semaphores":["lock:","project:"],"locking":true,"locked":true,"slot":null,"output":true,"sealed":true',
    '"undoRequested":true,"rewind":{"requestId":"","floor":0,"cursor":0,"acceptResidue":true,"plan":{"planHash":"","stepCount":}},"plans":[{"epoch":1,"from":',
    '"failure":{"step":null,"tool":null,"error":{"name":"Cancelled","message":"The saga was cancelled."},"outcome":"cancelled"},"phase":"undo","COMPENSATING"',
    '"wait":{"kind":"children","step":0,"effect":0,"direction":"forward","ended":"--------","told":"........","toldSeq":},"kind":"approval","kind":"parked"',
    '"wait":{"kind":"next-step","untilMs":17},"pauseUntilMs":null,"approvedStep":null,"cancelRequested":false,"failure":null,"status":"COMPLETED","phase":"done"',
    '{"status":"RUNNING","phase":"forward","epoch":0,"generation":1,"resumes":0,"stepCount":1,"cursor":0,"operation":{"effect":0,"direction":"forward",',
    '"attempt":1,"probes":0,"stage":"invoking","generation":2,"deadlineMs":17,"firstMs":17,"doubted":false,"answered":false,"probed":null,',
    '"argumentsHash":"","error":null},"wait":null,"pauseUntilMs":null,"approvedStep":null,"cancelRequested":false,"failure":null,"inline":true,',
    '"interactive":{"idleTimeoutSeconds":3600,"onIdle":"unwind","approvalTimeoutSeconds":86400,"allowIrreversible":["single":true},',
    '"submitted":{"index":1,"step":"","planHash":"',
  ].join(''),
);

export const packedState = (json: string): Uint8Array =>
  deflateRawSync(Buffer.from(json), { dictionary: DICTIONARY, level: 9 });

const bytes = z.instanceof(Uint8Array);

/** The JSON of a stored state. */
export const stateText = (stored: unknown): string =>
  inflateRawSync(bytes.parse(stored), { dictionary: DICTIONARY }).toString();
