/** Two tools of one's own, each with the way back. */
import * as z from 'zod';
import { defineTool } from '../../kit/define-tool.ts';
import { bookRoom } from '../first-tool/book-room.ts';
import { openHotel } from '../first-tool/hotel.ts';

export const hotel = openHotel();

/** Seats that are held, by the key of the call. */
export const seats = new Map<string, string>();

export const holdSeat = defineTool({
  name: 'hold_seat',
  version: '1.0.0',
  description: 'Holds a seat on a train',
  effect: 'compensatable',
  idempotencyWindowSeconds: 86_400,
  input: z.strictObject({ seat: z.string() }),
  output: z.object({ seat: z.string() }),
  execute: async ({ seat }, call) => {
    seats.set(call.forwardKey, seat);
    return { seat };
  },
  compensate: { name: 'free_seat', execute: async (_, call) => void seats.delete(call.forwardKey) },
});

export const ownTools = [bookRoom(hotel), holdSeat];
