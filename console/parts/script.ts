/**
 * The one script of the pages. Everything works without it: it copies a link, keeps a page that waits still while it looks
 * again, and does not send a form twice.
 */
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
const seconds = Number(document.documentElement.dataset.refresh);
const isBusy = () => document.activeElement !== null && ['INPUT', 'TEXTAREA', 'SELECT'].includes(document.activeElement.tagName);
const look = async () => {
  if (!isBusy()) {
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const [before, after] = [document.querySelector('main'), page.querySelector('main')];
      const place = document.activeElement?.id;
      if (before !== null && after !== null && before.innerHTML !== after.innerHTML) before.replaceWith(after);
      if (place) document.getElementById(place)?.focus({ preventScroll: true });
      document.title = page.title;
      if (answer.redirected) history.replaceState(null, '', answer.url);
      if (!page.documentElement.dataset.refresh) return;
    } catch {}
  }
  setTimeout(look, seconds * 1000);
};
if (seconds > 0) setTimeout(look, seconds * 1000);
`;
