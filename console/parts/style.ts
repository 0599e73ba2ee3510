/** The style of all pages: one scale of type, quiet colours, light and dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fcfcfb; --panel: #ffffff; --ink: #1d2125; --soft: #5a636d; --line: #dfe3e6;
  --link: #0b57a4; --good: #17663a; --good-bg: #e5f3ea; --bad: #9f1f1f; --bad-bg: #fbe9e8;
  --ask: #7a4a00; --ask-bg: #fdf1d8; --calm: #3f4a7a; --calm-bg: #e9ecf8; --plain-bg: #eef0f2;
  --added: #e3f5e7; --removed: #fde8e7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --panel: #1a1e22; --ink: #e6e9ec; --soft: #a3adb7; --line: #2f363d;
    --link: #82b9f2; --good: #8fd6a8; --good-bg: #173323; --bad: #f3a09c; --bad-bg: #3d1b1b;
    --ask: #f0c674; --ask-bg: #3a2c10; --calm: #b5c0f0; --calm-bg: #232948; --plain-bg: #262c32;
    --added: #14331f; --removed: #3d1b1b;
  }
}
* { box-sizing: border-box; }
html { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
body { margin: 0; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between;
  padding: .7rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--panel); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; align-items: baseline; }
nav a { color: var(--soft); text-decoration: none; padding: .15rem 0; }
nav a:hover { color: var(--ink); }
nav a[aria-current] { color: var(--ink); border-bottom: 2px solid var(--link); }
nav .brand { color: var(--ink); font-weight: 650; }
.viewer { margin: 0; color: var(--soft); }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem; }
main:focus { outline: none; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; top: .5rem; background: var(--panel); padding: .4rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .7rem; vertical-align: top; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; font-size: .87rem; }
.number { text-align: right; }
time { white-space: nowrap; }
.empty, .hint { color: var(--soft); }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .87rem; white-space: nowrap; background: var(--plain-bg); }
.badge.good { color: var(--good); background: var(--good-bg); } .badge.bad { color: var(--bad); background: var(--bad-bg); }
.badge.ask { color: var(--ask); background: var(--ask-bg); } .badge.calm { color: var(--calm); background: var(--calm-bg); }
.facts { display: flex; flex-wrap: wrap; gap: .3rem 2rem; margin: 0 0 1rem; }
.facts dt { color: var(--soft); font-size: .87rem; } .facts dd { margin: 0; overflow-wrap: anywhere; }
.split { display: grid; grid-template-columns: minmax(15rem, 22rem) 1fr; gap: 1.5rem; align-items: start; }
.split > * { min-width: 0; }
.messages { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); max-height: 75vh; overflow-y: auto; }
.messages li { border-bottom: 1px solid var(--line); } .messages li:last-child { border: 0; }
.messages a { display: block; padding: .4rem .7rem; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
.messages a:hover { background: var(--plain-bg); } .messages a[aria-current] { background: var(--calm-bg); }
.messages .left { opacity: .75; text-decoration: line-through; }
.card { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: .9rem 1.1rem; margin: 0 0 1rem; }
.card > h2:first-child, .card > h3:first-child { margin-top: 0; }
.scroll + .card, p + .card { margin-top: 1rem; } .scroll + details { margin: .5rem 0 0; }
.warn { border-left: 3px solid var(--ask); } .stop { border-left: 3px solid var(--bad); } .done { border-left: 3px solid var(--good); }
pre { margin: .4rem 0; padding: .6rem .8rem; overflow: auto; max-height: 28rem; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; font: .87rem/1.45 ui-monospace, monospace; }
code { font: .93em ui-monospace, monospace; }
form { display: inline-block; margin: 0 .5rem .4rem 0; } form.filters { display: flex; flex-wrap: wrap; gap: .5rem .8rem; align-items: end; margin-bottom: 1rem; }
label { display: block; font-size: .87rem; color: var(--soft); }
input, select, textarea, button { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 5px; padding: .3rem .55rem; max-width: 100%; }
button { cursor: pointer; background: var(--plain-bg); } button.main { background: var(--link); border-color: var(--link); color: var(--paper); }
button.danger { color: var(--bad); border-color: var(--bad); background: transparent; }
.diff { max-height: 32rem; overflow: auto; padding: .5rem .7rem; font: .87rem/1.45 ui-monospace, monospace; }
.diff > * { display: block; min-height: 1.45em; white-space: pre-wrap; overflow-wrap: anywhere; }
.diff ins, .diff del { text-decoration: none; }
.diff ins { background: var(--added); } .diff del { background: var(--removed); }
@media (max-width: 45rem) {
  main { padding: .9rem; } .split { grid-template-columns: 1fr; } .messages { max-height: 16rem; }
  form, form input, form textarea, form button { width: 100%; } form { display: block; margin-right: 0; }
  button { min-height: 2.75rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;
