/** EventBridge's PutEvents and SNS's Publish: accepted, kept, and shown at GET /local/events. PUT /local/topics lets a topic refuse. */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { refusal as refusalOfWebPages } from '../e2b/guard.ts';
import { type AwsCredentials, createVerifier, signedRequest } from '../sigv4.ts';
import type { EventJournal } from './journal.ts';
import { entryBytes, MAX_ENTRIES, MAX_ENTRIES_BYTES } from './limits.ts';
import { publishMessage } from './publish.ts';
import { TOPIC_STATES, type Topics } from './topics.ts';

const DEFAULT_SHOWN = 100;

const entrySchema = z.object({
  Source: z.string().optional(),
  DetailType: z.string().optional(),
  Detail: z.string().optional(),
  EventBusName: z.string().default('default'),
  Time: z.number().optional(),
  Resources: z.array(z.string()).optional(),
});
const putEventsSchema = z.object({ Entries: z.array(entrySchema).min(1).max(MAX_ENTRIES) });
type Entry = z.infer<typeof entrySchema>;

type EntryAnswer = { EventId: string } | { ErrorCode: string; ErrorMessage: string };

const jsonError = (c: Context, type: string, message: string): Response =>
  c.json({ __type: type, message }, 400, { 'x-amzn-ErrorType': type });

const parseDetail = (text: string): { detail: unknown } | undefined => {
  try {
    const detail: unknown = JSON.parse(text);
    return typeof detail === 'object' && detail !== null ? { detail } : undefined;
  } catch {
    return undefined;
  }
};

const busName = (reference: string): string => /:event-bus\/(.+)$/.exec(reference)?.[1] ?? reference;

const parseJson = (body: Uint8Array): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(Buffer.from(body).toString()) };
  } catch {
    return undefined;
  }
};

const createPutEvents = (journal: EventJournal, buses: readonly string[]) => {
  const put = async (entry: Entry): Promise<EntryAnswer> => {
    const { Source, DetailType, Detail } = entry;
    const bus = busName(entry.EventBusName);
    if (!buses.includes(bus)) {
      // The service drops these silently; here somebody wants to know.
      return { ErrorCode: 'ResourceNotFoundException', ErrorMessage: `Event bus ${bus} does not exist.` };
    }
    if (!Source || !DetailType || Detail === undefined) {
      return { ErrorCode: 'InvalidArgument', ErrorMessage: 'Source, DetailType and Detail are required.' };
    }
    const parsed = parseDetail(Detail);
    if (parsed === undefined) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
    const [record] = await journal.append([
      { kind: 'event', target: bus, source: Source, type: DetailType, body: parsed.detail },
    ]);
    return { EventId: record?.id ?? '' };
  };

  return async (c: Context, body: Uint8Array): Promise<Response> => {
    const parsed = parseJson(body);
    if (parsed === undefined) return jsonError(c, 'SerializationException', 'The request is not JSON.');
    const request = putEventsSchema.safeParse(parsed.value);
    if (!request.success) return jsonError(c, 'ValidationException', z.prettifyError(request.error));
    const entries = request.data.Entries;
    if (entries.reduce((sum, entry) => sum + entryBytes(entry), 0) > MAX_ENTRIES_BYTES) {
      return jsonError(
        c,
        'ValidationException',
        'Total size of the entries in the request is over the limit.',
      );
    }
    const answers: EntryAnswer[] = [];
    for (const entry of entries) answers.push(await put(entry));
    const failed = answers.filter((answer) => 'ErrorCode' in answer).length;
    return c.json({ FailedEntryCount: failed, Entries: answers }, 200, {
      'content-type': 'application/x-amz-json-1.1',
    });
  };
};

const xml = (c: Context, status: 200 | 400 | 403 | 404, body: string): Response =>
  c.body(`<?xml version="1.0"?>${body}`, status, { 'content-type': 'text/xml' });

const snsError = (c: Context, status: 400 | 403 | 404, code: string, message: string): Response =>
  xml(
    c,
    status,
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  );

const STATUS_OF = { InvalidParameter: 400, NotFound: 404, AuthorizationError: 403 } as const;

const topicsSchema = z.strictObject({ state: z.enum(TOPIC_STATES), topicArn: z.string().optional() });

/** Lets topics refuse messages, or take them again. */
const createSetTopics = (topics: Topics) => async (c: Context) => {
  const refused = refusalOfWebPages(c.req.raw.headers);
  if (refused !== undefined) return c.json({ message: refused }, 403);
  const parsed = parseJson(new Uint8Array(await c.req.arrayBuffer()));
  const request = topicsSchema.safeParse(parsed?.value);
  if (!request.success) return c.json({ message: z.prettifyError(request.error) }, 400);
  const { state, topicArn } = request.data;
  const set = topics.set(state, topicArn);
  return set.length === 0 ? c.json({ message: 'Topic does not exist' }, 404) : c.json({ topics: set, state });
};

const createPublish = (journal: EventJournal, topics: Topics) => async (c: Context, body: Uint8Array) => {
  const form = new URLSearchParams(Buffer.from(body).toString());
  if (form.get('Action') !== 'Publish') return snsError(c, 400, 'InvalidAction', 'Only Publish is offered');
  const sent = await publishMessage(journal, topics, {
    topicArn: form.get('TopicArn') ?? '',
    message: form.get('Message') ?? '',
    ...(form.has('Subject') && { subject: form.get('Subject') ?? '' }),
  });
  if ('code' in sent) return snsError(c, STATUS_OF[sent.code], sent.code, sent.message);
  const result = `<PublishResult><MessageId>${sent.messageId}</MessageId></PublishResult>`;
  return xml(c, 200, `<PublishResponse>${result}</PublishResponse>`);
};

export const createEventsApi = (options: {
  journal: EventJournal;
  eventBuses: readonly string[];
  topics: Topics;
  credentials: AwsCredentials;
}): Hono => {
  const { journal, eventBuses, topics, credentials } = options;
  const verifyEvents = createVerifier({ credentials, service: 'events' });
  const verifySns = createVerifier({ credentials, service: 'sns' });
  const putEvents = createPutEvents(journal, [...eventBuses, 'default']);
  const publish = createPublish(journal, topics);

  const app = new Hono();
  app.post('/', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const signed = signedRequest(c.req.raw, body);
    const target = c.req.header('x-amz-target');
    if (target === undefined) {
      const refusal = await verifySns(signed);
      return refusal === undefined ? publish(c, body) : snsError(c, 403, refusal.code, refusal.message);
    }
    const refusal = await verifyEvents(signed);
    if (refusal !== undefined) return jsonError(c, refusal.code, refusal.message);
    if (target === 'AWSEvents.PutEvents') return putEvents(c, body);
    return jsonError(c, 'UnknownOperationException', `${target} is not offered by the embedded cloud`);
  });
  // Unsigned, so that a person on this machine can look. Web pages cannot.
  app.get('/local/events', (c) => {
    const refused = refusalOfWebPages(c.req.raw.headers);
    if (refused !== undefined) return c.json({ message: refused }, 403);
    const limit = Number(c.req.query('limit') ?? DEFAULT_SHOWN);
    const shown = Number.isInteger(limit) && limit > 0 ? limit : DEFAULT_SHOWN;
    return c.json({ events: journal.list().slice(-shown) });
  });
  app.put('/local/topics', createSetTopics(topics));
  return app;
};
