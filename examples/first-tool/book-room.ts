import { defineTool, type Tool, ToolRejected } from 'walkback/kit';
import * as z from 'zod';
import type { Hotel } from './hotel.ts';

export const bookRoom = (hotel: Hotel): Tool =>
  defineTool({
    name: 'book_room',
    version: '1.0.0',
    description: 'Books a room',
    effect: 'compensatable',
    timeoutSeconds: 10,
    input: z.strictObject({ nights: z.int().min(1) }),
    output: z.object({ bookingId: z.string() }),
    externalRef: ({ bookingId }) => bookingId,
    execute: async ({ nights }, call) => {
      // Known not to have happened: the saga may try again, or go back.
      if (nights > 30) throw new ToolRejected('TooLong', 'The hotel takes nobody for more than 30 nights.');
      const booking = await hotel.book(nights, call.forwardKey);
      return { bookingId: booking.id };
    },
    // The hotel knows no keys: when an answer is lost, the saga asks instead of booking again.
    probe: async (_, call) => {
      const [booking] = await hotel.findByNote(call.forwardKey);
      return booking === undefined
        ? { happened: false }
        : { happened: true, result: { bookingId: booking.id } };
    },
    compensate: {
      name: 'cancel_room',
      // By key, because the result is missing when the answer was lost; and nothing to cancel is fine.
      execute: async (_, call) => {
        for (const { id } of await hotel.findByNote(call.forwardKey)) await hotel.cancel(id);
      },
    },
  });
