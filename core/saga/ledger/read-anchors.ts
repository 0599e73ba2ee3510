import type { AnchorsAnswer, StoredAnchor } from '../../../contract/ledger-query.ts';
import { createPage } from '../../shared/answer-size.ts';
import { requireGiven } from '../../shared/cursor.ts';
import type { AnchorStore } from './anchor.ts';

const MAX_DIGESTS = 1000;

const read = async (anchors: AnchorStore, one: Omit<StoredAnchor, 'text'>): Promise<StoredAnchor> => {
  const text = await anchors.get(one.name);
  return { ...one, ...(text === undefined ? {} : { text }) };
};

/**
 * Answers a page of about 1 MB. The cursor is the name of the last digest answered. `before` comes with every
 * page.
 */
export const createReadAnchors =
  ({ anchors, publicKey }: { anchors: AnchorStore; publicKey: () => Promise<string> }) =>
  async (day: string, cursor?: string): Promise<{ anchors: AnchorsAnswer; cursor?: string }> => {
    const [days, names, key] = await Promise.all([anchors.days(), anchors.list(day), publicKey()]);
    if (cursor !== undefined) requireGiven(names.some(({ name }) => name === cursor));
    const page = createPage<StoredAnchor>(MAX_DIGESTS);
    let next: string | undefined;
    for (const one of names.filter(({ name }) => name > (cursor ?? ''))) {
      if (page.isFull() || !page.add(await read(anchors, one))) {
        next = page.items.at(-1)?.name;
        break;
      }
    }
    const dayBefore = days.findLast((known) => known < day);
    const before = dayBefore === undefined ? undefined : (await anchors.list(dayBefore)).at(-1);
    return {
      anchors: {
        day,
        anchors: page.items,
        ...(before === undefined ? {} : { before: await read(anchors, before) }),
        firstDay: days[0] ?? null,
        publicKey: key,
      },
      ...(next === undefined ? {} : { cursor: next }),
    };
  };

export type ReadAnchors = ReturnType<typeof createReadAnchors>;
