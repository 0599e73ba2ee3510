/** What dynoxide's own tables lack: an index by which the newest record of a stream is found. */

/** `node:sqlite` is there without a warning from this version on. */
const FIRST_NODE = 24;
const BUSY_MS = 5_000;

/**
 * For each item written, dynoxide 1.2.1 asks for the highest number among the records of the table's stream, and reads
 * every record for it: after 12,000 records a transaction of three items took 39 ms of its processor time, 4 ms at the
 * beginning. With the index it is one look. It also serves reading a stream after a number. On an older Node it is left
 * out, and everything works as before.
 */
export const indexStreams = (file: string): void => {
  if (Number.parseInt(process.versions.node, 10) < FIRST_NODE) return;
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    database.exec(
      'CREATE INDEX IF NOT EXISTS walkback_stream_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
    );
  } finally {
    database.close();
  }
};
