/**
 * The one script of the pages. Everything works without it. It copies a link, keeps a waiting page still
 * while it looks again, does not send a form twice, and keeps back and reload from sending one again.
 */

/** Marks a request that a page makes by itself: nobody is there who could sign in. */
export const LOOK_HEADER = 'x-walkback-look';

export const SCRIPT = `'use strict';
for (const link of document.querySelectorAll('a[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy link';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(link.href).catch(() => {});
    button.textContent = 'Copied';
  });
  link.after(button);
}
document.addEventListener('submit', (event) => {
  for (const button of event.target.querySelectorAll('button')) setTimeout(() => { button.disabled = true; });
});
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('form button:disabled')) button.disabled = false;
});
const { instead } = document.documentElement.dataset;
if (instead) history.replaceState(null, '', instead);
const seconds = Number(document.documentElement.dataset.refresh);
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
      if (after === null && answer.status === 401)
        return say('You are not signed in here any more, so this page does not look again. Load it again.');
      if (after === null) throw new Error('no page');
      const place = document.activeElement?.id;
      if (before !== null && before.innerHTML !== after.innerHTML) before.replaceWith(after);
      if (place) document.getElementById(place)?.focus({ preventScroll: true });
      document.title = page.title;
      if (answer.redirected) history.replaceState(null, '', answer.url);
      if (!page.documentElement.dataset.refresh) return;
    } catch {
      say('The console does not answer. This page goes on looking.');
    }
  }
  setTimeout(look, seconds * 1000);
};
if (seconds > 0) setTimeout(look, seconds * 1000);
`;
