/** The little XML that S3 uses: rendering answers, and reading the documents that a client sends. */
import { S3Error } from './errors.ts';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeXml = (text: string): string =>
  // Control characters have no literal form in XML; S3 sends them as references too.
  // oxlint-disable-next-line no-control-regex
  text.replace(/[&<>"\u0000-\u001f]/g, (c) => ENTITIES[c] ?? `&#x${c.charCodeAt(0).toString(16)};`);

type XmlValue = string | number | boolean | undefined | XmlNode | XmlValue[];
export interface XmlNode {
  [element: string]: XmlValue;
}

const render = (name: string, value: XmlValue): string => {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map((item) => render(name, item)).join('');
  const inner = typeof value === 'object' ? renderChildren(value) : escapeXml(String(value));
  return `<${name}>${inner}</${name}>`;
};

const renderChildren = (node: XmlNode): string =>
  Object.entries(node)
    .map(([name, value]) => render(name, value))
    .join('');

export const xmlDocument = (root: string, content: XmlNode): string => {
  const xmlns = root === 'Error' ? '' : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${xmlns}>${renderChildren(content)}</${root}>`;
};

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const unescapeXml = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi, (whole, hex, dec, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (dec !== undefined) return String.fromCodePoint(Number(dec));
    return NAMED[name] ?? whole;
  });

/** Keys named by a `<Delete>` document, and whether only errors are to be reported. */
export const parseDelete = (document: string): { keys: string[]; quiet: boolean } => {
  const keys = [...document.matchAll(/<Object>[\s\S]*?<Key>([^<]*)<\/Key>[\s\S]*?<\/Object>/g)].map((match) =>
    unescapeXml(match[1] ?? ''),
  );
  if (keys.length === 0 || keys.length > 1000 || keys.includes(''))
    throw new S3Error('MalformedXML', 'Send a Delete document with 1 to 1000 keys.');
  return { keys, quiet: /<Quiet>\s*true\s*<\/Quiet>/.test(document) };
};

/** Days of the default retention of an `<ObjectLockConfiguration>` document. */
export const parseLock = (document: string): number | undefined => {
  const days = /<Days>(\d{1,6})<\/Days>/.exec(document)?.[1];
  const isKnown = /<Mode>GOVERNANCE<\/Mode>/.test(document) && days !== undefined && Number(days) > 0;
  if (isKnown) return Number(days);
  if (!document.includes('<DefaultRetention>')) return undefined;
  throw new S3Error(
    'NotImplemented',
    'Object lock supports a default retention of days in GOVERNANCE mode here.',
  );
};
