/** The Connect protocol with the JSON codec, as far as the E2B SDK uses it: envelopes, codes and error bodies. */

/** Connect codes this server answers, with the HTTP status of a unary error. */
const STATUS = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 400,
  resource_exhausted: 429,
  deadline_exceeded: 504,
  unimplemented: 501,
  unavailable: 503,
  internal: 500,
  /** Not a code of Connect: uploads answer this when the disk is full. */
  no_space: 507,
} as const;

export type ConnectCode = keyof typeof STATUS;

/** A failed remote procedure call, in Connect's terms. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly code: ConnectCode;

  constructor(code: ConnectCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }

  get status(): (typeof STATUS)[ConnectCode] {
    return STATUS[this.code];
  }

  get body(): { code: ConnectCode; message: string } {
    return { code: this.code, message: this.message };
  }
}

const HEADER_BYTES = 5;
const END_FLAG = 2;

const envelope = (flag: number, message: unknown): Uint8Array => {
  const json = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(flag, 0);
  header.writeUInt32BE(json.length, 1);
  return Buffer.concat([header, json]);
};

export const messageEnvelope = (message: unknown): Uint8Array => envelope(0, message);

/** The last envelope of every stream: empty after a success. */
export const endEnvelope = (failure?: ConnectFailure): Uint8Array =>
  envelope(END_FLAG, failure === undefined ? {} : { error: failure.body });

/** The single message of a streaming request. */
export const parseEnvelope = (bytes: Uint8Array): unknown => {
  const buffer = Buffer.from(bytes);
  if (buffer.length < HEADER_BYTES || buffer.length !== HEADER_BYTES + buffer.readUInt32BE(1))
    throw new ConnectFailure('invalid_argument', 'The request is not one enveloped message.');
  if (buffer.readUInt8(0) !== 0)
    throw new ConnectFailure('unimplemented', 'Compressed messages are not supported.');
  return parseJson(buffer.subarray(HEADER_BYTES).toString('utf8'));
};

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConnectFailure('invalid_argument', 'The message is not JSON.', { cause });
  }
};
