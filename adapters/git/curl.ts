/**
 * Lists of transfers as curl configuration. Addresses reach the sandbox only in this way, without being
 * logged. Pure.
 */

export interface Transfer {
  url: string;
  sizeBytes: number;
  headers?: Record<string, string>;
  /** File to send, relative to the directory curl runs in. */
  upload?: string;
  /** File to write. */
  output?: string;
}

const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const lines = (transfer: Transfer): string[] => [
  `url = ${quote(transfer.url)}`,
  ...Object.entries(transfer.headers ?? {}).map(([name, text]) => `header = ${quote(`${name}: ${text}`)}`),
  ...(transfer.upload === undefined
    ? []
    : [`upload-file = ${quote(transfer.upload)}`, 'header = "Expect:"', 'output = "/dev/null"']),
  ...(transfer.output === undefined ? [] : [`output = ${quote(transfer.output)}`]),
  'fail',
  'silent',
  'show-error',
  'retry = 3',
];

/**
 * This many lists are worked on at once, each by its own curl. S3's performance guidelines recommend one
 * concurrent request for each 85 to 90 MB/s of network.
 */
const LISTS = 4;

/** Splits the transfers into up to LISTS lists of about the same size. Each keeps their order. */
const inLists = (transfers: readonly Transfer[]): Transfer[][] => {
  const lists = Array.from({ length: Math.min(LISTS, transfers.length) }, () => ({
    bytes: 0,
    transfers: new Set<Transfer>(),
  }));
  // The largest come first, each into the list with the fewest bytes.
  for (const transfer of transfers.toSorted((a, b) => b.sizeBytes - a.sizeBytes)) {
    const lightest = lists.reduce((least, list) => (list.bytes < least.bytes ? list : least));
    lightest.bytes += transfer.sizeBytes;
    lightest.transfers.add(transfer);
  }
  return lists.map((list) => transfers.filter((transfer) => list.transfers.has(transfer)));
};

/**
 * The lists, with a line `# list` before each: sandbox/src/bundle/curl.rs reads them. The last line is
 * `# end`, so that the reader can tell a complete file from one that is still being written.
 */
export const curlTransfers = (transfers: readonly Transfer[]): string =>
  [
    ...inLists(transfers).flatMap((list) => [
      '# list',
      // Without this, curl's exit status for a list would be that of its last transfer alone.
      'fail-early',
      ...list.flatMap((transfer, at) => [...(at === 0 ? [] : ['next']), ...lines(transfer)]),
    ]),
    '# end',
    '',
  ].join('\n');
