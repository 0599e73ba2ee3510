/**
 * The one script of the pages. Everything works without it. It shows times in the reader's zone, puts ids behind
 * a button that copies them, keeps which files were viewed, keeps a waiting page still while it looks again, does
 * not send a form twice, and keeps back and reload from sending one again.
 */

/** Marks a request that a page makes by itself: nobody is there who could sign in. */
export const LOOK_HEADER = 'x-walkback-look';

/** The time zone of the reader, for the days of the ledger. */
export const ZONE_COOKIE = 'walkback_zone';

const TIMES = `
const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const seconds = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const near = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12], ['year', Infinity]];
const isToday = (at) => at.toDateString() === new Date().toDateString();
const relative = (at) => {
  let span = (at - Date.now()) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(span) < length) return unit === 'second' ? (span > 0 ? 'in a moment' : 'just now') : ago.format(Math.round(span), unit);
    span /= length;
  }
};
const LOOKS = {
  ago: relative,
  clock: (at) => isToday(at) ? 'today, ' + near.format(at).slice(0, 5) : clock.format(at),
  near: (at) => isToday(at) ? near.format(at) : seconds.format(at),
};
const showTimes = () => {
  for (const one of document.querySelectorAll('time[data-look]')) {
    const at = new Date(one.dateTime);
    one.title = whole.format(at);
    one.textContent = LOOKS[one.dataset.look](at);
  }
};
setInterval(showTimes, 60000);
document.cookie = '${ZONE_COOKIE}=' + encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone) + '; path=/; max-age=31536000; samesite=strict';
`;

const COPIES = `
const copyButton = (text, label, name) => {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: label, title: text });
  button.setAttribute('aria-label', name);
  button.addEventListener('click', async () => {
    // A page that came without TLS has no clipboard.
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch { button.textContent = 'Not copied: the browser does not allow it'; }
  });
  return button;
};
const showCopies = () => {
  for (const link of document.querySelectorAll('a[data-copy]')) {
    if (link.nextElementSibling?.className !== 'copy') link.after(copyButton(link.href, 'Copy link', 'Copy link'));
  }
  for (const id of document.querySelectorAll('code.ident')) id.replaceWith(copyButton(id.textContent, 'Copy id', 'Copy id ' + id.textContent));
};
`;

/** Which diffs a person has viewed is known to their browser only, by a mark of what was shown. */
const VIEWED = `
const keptViewed = () => {
  try { return JSON.parse(localStorage.getItem('viewed') ?? '[]'); } catch { return []; }
};
const viewed = new Set(keptViewed());
const countViewed = () => {
  const files = [...document.querySelectorAll('[data-viewed]')];
  const count = files.filter((one) => viewed.has(one.dataset.viewed)).length;
  for (const one of document.querySelectorAll('[data-viewed-count]')) one.textContent = count + ' of ' + files.length + ' viewed';
};
const showViewed = () => {
  for (const file of document.querySelectorAll('[data-viewed]')) {
    if (file.querySelector('.tick') !== null) continue;
    const mark = file.dataset.viewed;
    const details = file.querySelector('details');
    const label = document.createElement('label');
    const box = document.createElement('input');
    Object.assign(box, { type: 'checkbox', checked: viewed.has(mark) });
    label.className = 'tick';
    label.append(box, ' Viewed');
    if (box.checked) details.open = false;
    box.addEventListener('change', () => {
      viewed[box.checked ? 'add' : 'delete'](mark);
      details.open = !box.checked;
      countViewed();
      // A browser that keeps nothing forgets it with the page.
      try { localStorage.setItem('viewed', JSON.stringify([...viewed].slice(-5000))); } catch {}
    });
    file.append(label);
  }
  countViewed();
};
`;

export const SCRIPT = `'use strict';${TIMES}${COPIES}${VIEWED}
for (const place of document.querySelectorAll('a[data-count]')) {
  const mark = (textContent, title) => place.append(' ', Object.assign(document.createElement('span'), { className: 'badge ask', textContent, title }));
  const unknown = () => mark('?', 'How much waits could not be read. The queue itself says why.');
  fetch(place.dataset.count, { headers: { '${LOOK_HEADER}': 'yes' } }).then(async (answer) => {
    // Who may not see the queue, or is not signed in any more, has nothing waiting there.
    if (answer.status === 401 || answer.status === 403) return;
    if (!answer.ok) return unknown();
    const { count, hasMore } = await answer.json();
    if (count > 0) mark(count + (hasMore ? '+' : ''), 'This much waits for a person');
  }).catch(unknown);
}
const enhance = () => { showTimes(); showCopies(); showViewed(); };
document.addEventListener('submit', (event) => {
  for (const button of event.target.elements) if (button.type === 'submit') setTimeout(() => { button.disabled = true; });
});
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('button:disabled')) button.disabled = false;
});
const { instead } = document.documentElement.dataset;
if (instead) history.replaceState(null, '', instead);
let known = document.querySelector('main')?.innerHTML;
enhance();
const wait = Number(document.documentElement.dataset.refresh) * 1000;
const isBusy = () => document.activeElement !== null && ['INPUT', 'TEXTAREA', 'SELECT'].includes(document.activeElement.tagName);
const say = (text) => {
  const note = document.getElementById('look') ?? document.createElement('p');
  Object.assign(note, { id: 'look', className: 'card warn', role: 'status', textContent: text });
  if (!note.isConnected) document.querySelector('h1')?.after(note);
};
const look = async () => {
  if (!isBusy()) {
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html', '${LOOK_HEADER}': 'yes' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const [before, after] = [document.querySelector('main'), page.querySelector('main')];
      const came = after?.innerHTML;
      if (after === null && answer.status === 401)
        return say('You are not signed in here any more, so this page does not look again. Load it again.');
      if (after === null) throw new Error('no page');
      const place = document.activeElement?.id;
      const isTold = document.getElementById('look') !== null;
      if (before !== null && (isTold || came !== known)) before.replaceWith(after);
      known = came;
      enhance();
      if (place) document.getElementById(place)?.focus({ preventScroll: true });
      document.title = page.title;
      if (answer.redirected) history.replaceState(null, '', answer.url);
      if (!page.documentElement.dataset.refresh) return;
    } catch {
      say('The console does not answer. This page goes on looking.');
    }
  }
  setTimeout(look, wait);
};
if (wait > 0) setTimeout(look, wait);
`;
