/** A call that waits for a person longer than it may: nothing was called, so nothing is in doubt. */
import { expect, test } from 'vitest';
import { sagaTools } from '../../client/index.ts';
import type { Saga } from '../../client/saga.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';

test('that nobody approved in time is told, with what becomes of it', async () => {
  const saga = { submit: async () => ({ step: { status: 'awaiting' } }) } as unknown as Saga;
  const tools = sagaTools([bookRoom(openHotel())], saga, { approvalSeconds: 0 });
  await expect(tools['book_room']?.execute({ nights: 1 }, { toolCallId: 'call-1' })).rejects.toMatchObject({
    name: 'ApprovalPending',
    kind: 'refusal',
    retryable: true,
    message:
      'book_room: Nobody approved it in time. Nothing was done; when somebody approves it later, it is done then.',
  });
});
