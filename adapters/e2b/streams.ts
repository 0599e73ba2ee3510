/** Reading streams of a sandbox, with our errors and our limits. */
import { WalkbackError } from '../../core/shared/errors.ts';
import { classify } from './classify.ts';

/** Passes on the same bytes. An error on the way becomes a `WalkbackError`. */
export const classifiedStream = (
  source: ReadableStream<Uint8Array>,
  sandboxId: string,
): ReadableStream<Uint8Array> => {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await reader.read();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        controller.error(classify(error, sandboxId));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

/**
 * All bytes of a stream. Throws `BundleTooLarge` as soon as there are more than `maxBytes`, without reading
 * the rest. At the end they are in memory twice for a moment.
 */
export const readWhole = async (
  source: ReadableStream<Uint8Array>,
  maxBytes: number,
  path: string,
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of source) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes)
      throw new WalkbackError(
        'BundleTooLarge',
        `${path} is larger than ${maxBytes} bytes; stream it instead.`,
        {
          details: { path, maxBytes },
        },
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
