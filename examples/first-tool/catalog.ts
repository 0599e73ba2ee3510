import { manifestOf, type SagaDefinition } from 'walkback/kit';
import { bookRoom } from './book-room.ts';
import { openHotel } from './hotel.ts';

const trip: SagaDefinition = {
  name: 'trip',
  version: '1.0.0',
  description: 'Books a room',
  reviewBy: '2027-06-30',
  input: { type: 'object', properties: { nights: { type: 'integer' } }, required: ['nights'] },
  plan: { steps: [{ id: 'room', tool: 'book_room', arguments: { nights: '{% input.nights %}' } }] },
};

/** What `walkback catalog put` takes: the manifests come from the tools, so that code and catalog cannot drift. */
export const catalogFor = (endpoint: string) => ({
  tools: [manifestOf(bookRoom(openHotel()), { endpoint })],
  definitions: [trip],
});
