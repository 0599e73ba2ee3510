/**
 * A process that has a file mapped and writes into the mapping when it is told to: the `-shm` of a database of SQLite.
 * With `closed`, it has closed that file. Alone in its database, SQLite needs only the mapping.
 */
import { closeSync, readdirSync, readlinkSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const DESCRIPTORS = '/proc/self/fd';
const leadsTo = (name: string): string => {
  try {
    return readlinkSync(`${DESCRIPTORS}/${name}`);
  } catch {
    // The one that the list was read through.
    return '';
  }
};
const descriptorOf = (path: string): number =>
  Number(readdirSync(DESCRIPTORS).find((name) => leadsTo(name) === path));

const [, , file = '', mode] = process.argv;
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (0)');
if (mode === 'closed') {
  database.exec('PRAGMA locking_mode = EXCLUSIVE; INSERT INTO t VALUES (0)');
  closeSync(descriptorOf(`${file}-shm`));
}
process.on('message', () => {
  database.exec('INSERT INTO t VALUES (1)');
  process.send?.('written');
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.send?.('written');
