/** What a page is told of a saga that did nothing, and what a test has to say of it. */
export const AT = '2026-01-02T10:00:00.000Z';

export const observed = (more: object) => ({
  sagaId: 's',
  status: 'RUNNING',
  requestedBy: 'agent',
  createdAt: AT,
  updatedAt: AT,
  committed: [],
  compensated: [],
  notCompensated: [],
  results: [],
  advice: '',
  ...more,
});
