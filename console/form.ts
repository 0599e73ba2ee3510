/**
 * Reads the fields of a form that was sent. The body is read here, because not every server's request can be
 * rebuilt with another body.
 */
import type { Context } from 'hono';
import { WalkbackError } from '../core/shared/errors.ts';

/** A form is short. */
const MAX_FORM_BYTES = 64 * 1024;

const FORM = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i;

const tooLarge = () =>
  new WalkbackError('RequestTooLarge', `This form is larger than ${MAX_FORM_BYTES} bytes. Nothing was done.`);

const bytesOf = async (c: Context): Promise<Buffer> => {
  if (Number(c.req.header('content-length') ?? 0) > MAX_FORM_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/**
 * Files are left out, and a body that is not a form has no fields. Browsers send the lines of a text with Windows
 * line ends; they are kept with plain ones. Throws `InvalidInput` when the body cannot be read, or
 * `RequestTooLarge`.
 */
export const fieldsOf = async (c: Context): Promise<Record<string, string>> => {
  const type = c.req.header('content-type') ?? '';
  const body = new Response(new Uint8Array(await bytesOf(c)), { headers: { 'content-type': type } });
  if (!FORM.test(type)) return {};
  const form = await body.formData().catch((cause: unknown) => {
    const message = 'What was sent cannot be read as a form. Nothing was done.';
    throw new WalkbackError('InvalidInput', message, { cause });
  });
  return Object.fromEntries(
    [...form].flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.replaceAll('\r\n', '\n')]] : [],
    ),
  );
};
