/** How a notice reaches people: the same for the rules of a deployment and for the embedded cloud. */

/** Their `detail.notice` is for people; without one nobody has to do anything. */
export const NOTICE_EVENTS = ['saga.awaiting', 'saga.compensation_failed'] as const;
export const NOTICE_SOURCE = 'walkback';

/** Where in an event the text is, and what is the same on every delivery of the event. */
export const NOTICE_TEXT = '$.detail.notice.text';
export const NOTICE_ID = '$.detail.eventId';

/** The member of the body that has the id, for a receiver that drops what it has seen. */
export const NOTICE_ID_MEMBER = 'eventId';
