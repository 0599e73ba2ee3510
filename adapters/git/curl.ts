/** Lists of transfers as a curl configuration file: the one way addresses reach the sandbox without being logged. Pure. */

export interface Transfer {
  url: string;
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

/** The last line is `# end`, so that the reader can tell a whole file from one that is still being written. */
export const curlTransfers = (transfers: readonly Transfer[]): string =>
  [
    ...transfers.flatMap((transfer, at) => [...(at === 0 ? [] : ['next']), ...lines(transfer)]),
    '# end',
    '',
  ].join('\n');
