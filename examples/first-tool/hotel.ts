/** The provider: a hotel that knows no idempotency keys. It keeps the note that a booking was made with, and can be asked for it. */
export interface Booking {
  id: string;
  nights: number;
  note: string;
}

export const openHotel = () => {
  const bookings = new Map<string, Booking>();
  let last = 0;
  return {
    book: async (nights: number, note: string): Promise<Booking> => {
      last += 1;
      const booking = { id: `room-${last}`, nights, note };
      bookings.set(booking.id, booking);
      return booking;
    },
    /** Of what is not there any more, too. */
    cancel: async (id: string): Promise<void> => void bookings.delete(id),
    findByNote: async (note: string): Promise<Booking[]> =>
      [...bookings.values()].filter((booking) => booking.note === note),
    bookings: async (): Promise<Booking[]> => [...bookings.values()],
  };
};

export type Hotel = ReturnType<typeof openHotel>;
