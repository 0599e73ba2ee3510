/** The style of all pages: one scale of font sizes, quiet colours, light and dark. */
const COLOURS = `
:root {
  color-scheme: light dark;
  --paper: #fafafa; --panel: #fff; --sunk: #f4f5f6; --ink: #1c2024; --soft: #5b636b; --line: #e3e6e9; --edge: #cdd2d7;
  --link: #2159b8; --good: #1b6640; --good-bg: #e6f3ec; --bad: #a3262a; --bad-bg: #fbeaea;
  --ask: #7a4c05; --ask-bg: #fcf2dc; --calm: #44507c; --calm-bg: #eaedf7; --plain-bg: #eef0f2; --shade: rgb(28 32 36 / .16);
  --added: #eaf6ee; --added-word: #b9e2c6; --removed: #fcefee; --removed-word: #f4c6c3;
  --c-c: #626b75; --c-s: #2f6a3c; --c-n: #8a4b08; --c-k: #7a3e9d; --c-f: #1f5fae; --c-a: #1a6a74; --c-t: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121416; --panel: #181b1e; --sunk: #1f2327; --ink: #e3e6e9; --soft: #a0a9b2; --line: #2a2f34; --edge: #3d444b;
    --link: #8ab6f5; --good: #8fd3aa; --good-bg: #16301f; --bad: #f2a5a2; --bad-bg: #391b1c;
    --ask: #ecc67a; --ask-bg: #352a12; --calm: #b4bff0; --calm-bg: #22284a; --plain-bg: #272c31; --shade: rgb(0 0 0 / .65);
    --added: #13261a; --added-word: #225a36; --removed: #2d1819; --removed-word: #6e2c2d;
    --c-c: #98a1aa; --c-s: #9fd3a8; --c-n: #e3b27a; --c-k: #cfa9ec; --c-f: #8fbcf7; --c-a: #86cdd6; --c-t: #e0c27c;
  }
}`;

/** Sizes: 1.5, 1.125, 1 (14 px) and 0.86 rem, and no others. */
const TYPE = `
* { box-sizing: border-box; }
html { font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--ink); background: var(--paper); overflow-y: scroll; }
body { margin: 0; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; font-weight: 600; line-height: 1.25; margin: 0 0 .75rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; font-weight: 600; line-height: 1.3; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; font-weight: 600; margin: 1rem 0 .35rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px; }
code, pre, .diff { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
bdi.said { white-space: pre-wrap; overflow-wrap: anywhere; }
code { font-size: .92em; overflow-wrap: anywhere; }
small, .hint, th, dt, label, .badge, .meta, .cut, .notes { font-size: .86rem; }
.hint, .empty, .meta, .cut, .notes { color: var(--soft); }
time, .number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.counts { white-space: nowrap; font-size: .86rem; font-variant-numeric: tabular-nums; }
.counts ins, .counts del { text-decoration: none; } .counts ins { color: var(--good); } .counts del { color: var(--bad); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; border-radius: 3px; }`;

const FRAME = `
header { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; align-items: baseline; justify-content: space-between; padding: .55rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--panel); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; align-items: baseline; }
nav a { color: var(--soft); text-decoration: none; padding: .2rem 0 .25rem; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--ink); } nav a[aria-current] { color: var(--ink); border-bottom-color: var(--link); }
nav .brand { color: var(--ink); font-weight: 650; }
.viewer { min-width: 0; margin: 0 0 0 auto; color: var(--soft); font-size: .86rem; }
main { max-width: 80rem; margin: 0 auto; padding: 1.25rem; } main.wide { max-width: 110rem; }
main:focus { outline: none; }
footer { max-width: 80rem; margin: 0 auto; padding: 0 1.25rem 1.5rem; color: var(--soft); font-size: .86rem; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; top: .5rem; background: var(--panel); padding: .4rem; z-index: 2; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }`;

const TABLES = `
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; background: linear-gradient(to right, var(--panel) 40%, transparent) left / 2.5rem 100% no-repeat local, linear-gradient(to left, var(--panel) 40%, transparent) right / 2.5rem 100% no-repeat local, linear-gradient(to right, var(--shade), transparent) left / .9rem 100% no-repeat, linear-gradient(to left, var(--shade), transparent) right / .9rem 100% no-repeat, var(--panel); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .65rem; vertical-align: top; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; } tbody tr:hover td { background: var(--sunk); }
tfoot td, tfoot th { border-top: 1px solid var(--edge); border-bottom: 0; font-weight: 600; color: var(--ink); }
.long { display: block; min-width: 12rem; max-width: 26rem; overflow-wrap: anywhere; } .whole { white-space: nowrap; }
.lengthy { overflow-wrap: anywhere; } td:has(.lengthy) { min-width: 12rem; max-width: 26rem; }
th { font-weight: 500; color: var(--soft); white-space: nowrap; }
.number { text-align: right; }
.badge { display: inline-block; padding: .05rem .45rem; border-radius: 4px; white-space: nowrap; background: var(--plain-bg); font-weight: 500; vertical-align: baseline; }
.badge.good { color: var(--good); background: var(--good-bg); } .badge.bad { color: var(--bad); background: var(--bad-bg); }
.badge.ask { color: var(--ask); background: var(--ask-bg); } .badge.calm { color: var(--calm); background: var(--calm-bg); }
.facts { display: flex; flex-wrap: wrap; gap: .35rem 2rem; margin: 0 0 1.1rem; }
.facts > div { min-width: 0; } .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.card { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: .75rem 1rem; margin: 0 0 .9rem; overflow-wrap: anywhere; }
.card > :first-child { margin-top: 0; } .card > :last-child { margin-bottom: 0; }
.warn { border-left: 3px solid var(--ask); } .stop { border-left: 3px solid var(--bad); } .done { border-left: 3px solid var(--good); }
pre { margin: .4rem 0; padding: .55rem .75rem; overflow: auto; max-height: 24rem; background: var(--sunk); border-radius: 5px; font-size: .86rem; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; margin: .4rem 0; }
summary { cursor: pointer; padding: .15rem 0; } details > summary:hover { color: var(--link); }`;

const FORMS = `
form { margin: 0; } form + form { margin-top: .5rem; } .acts { display: flex; flex-wrap: wrap; gap: .45rem; align-items: center; margin: .6rem 0; } .acts .acts { margin: 0; } textarea + .card { margin-top: .9rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: 0 0 1rem; }
label { display: block; color: var(--soft); margin: 0 0 .15rem; }
.tick { display: flex; gap: .45rem; align-items: baseline; color: var(--ink); font-size: 1rem; margin: .5rem 0; }
input, select, textarea, button, .button { font: inherit; line-height: 1.3; color: var(--ink); background: var(--panel); border: 1px solid var(--edge); border-radius: 5px; padding: .3rem .6rem; max-width: 100%; min-height: 2.1rem; } .filters input, .filters select { height: 2.2rem; }
input[type=checkbox] { min-height: 0; }
input[type=checkbox] { width: auto; } textarea { width: 100%; min-height: 4.5rem; display: block; }
button, .button { cursor: pointer; text-decoration: none; display: inline-flex; align-items: center; justify-content: center; font-weight: 500; }
button:hover, .button:hover { background: var(--sunk); }
button.main, .button.main { background: var(--link); border-color: var(--link); color: var(--panel); } button.main:hover, .button.main:hover { filter: brightness(.94); }
button.danger { color: var(--bad); border-color: currentcolor; }`;

const SESSION = `
.split { display: grid; grid-template-columns: minmax(16rem, 21rem) minmax(0, 1fr); gap: 1.5rem; align-items: start; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) minmax(15rem, 20rem); gap: 1.25rem; align-items: start; }
.beside > .side { grid-column: 2; grid-row: 1; position: sticky; top: .75rem; } .beside > .side + div { grid-column: 1; grid-row: 1; }
.split > *, .beside > * { min-width: 0; }
.split > aside { position: sticky; top: .75rem; }
.acts form + form { margin: 0; }
.beside { margin-top: 1.1rem; }
.effects { list-style: none; padding: 0; margin: 0; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); }
.effects .of { font-weight: 500; background: var(--sunk); } .effects li { padding: .45rem .75rem; } .effects li + li { border-top: 1px solid var(--line); } .effects p { margin: 0; display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; } .effects .number { margin-left: auto; font-weight: 500; }
.call + .call { border-top: 1px solid var(--line); margin-top: .9rem; padding-top: .9rem; }
.call > header { display: flex; gap: .2rem 1rem; justify-content: space-between; align-items: baseline; padding: 0; border: 0; background: none; }
.call > header h3 { margin: 0; min-width: 0; } .call > header h3 code { font-weight: 400; } .call > header p { margin: 0; display: flex; gap: .75rem; align-items: baseline; white-space: nowrap; }
.call a.meta { color: var(--soft); } h4 { font-size: 1rem; font-weight: 500; margin: .5rem 0 .2rem; overflow-wrap: anywhere; }
.quiet { color: var(--soft); } .quiet ol { margin: .3rem 0; }
.scopes { display: flex; flex-wrap: wrap; gap: 0; border: 1px solid var(--edge); border-radius: 6px; width: fit-content; max-width: 100%; overflow: clip; background: var(--panel); margin-bottom: .5rem; } .scopes + form { margin-top: .75rem; }
.scopes a { padding: .35rem .8rem; border: 0; border-right: 1px solid var(--line); } .scopes a[aria-current] { background: var(--calm-bg); color: var(--ink); font-weight: 500; }
.confirm { position: sticky; bottom: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin: 1.25rem -1.25rem -1.25rem; padding: .7rem 1.25rem; background: var(--panel); border-top: 1px solid var(--edge); }
.files { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: .4rem .75rem; margin-bottom: 1.25rem; max-height: 50vh; overflow-y: auto; }
.files summary { font-weight: 500; } .files ul { list-style: none; padding-left: .9rem; margin: .1rem 0; } .files details > ul { padding-left: 0; } .files .folder { color: var(--soft); } .files li { overflow-wrap: anywhere; padding: .06rem 0; }
.given { margin: .3rem 0; } .given > div { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .1rem 1rem; padding: .15rem 0; } .given dt { overflow-wrap: anywhere; } .given dd { margin: 0; min-width: 0; overflow-wrap: anywhere; } .given pre { margin: 0; }
.copy { min-height: 0; padding: .05rem .45rem; font-size: .86rem; font-weight: 400; color: var(--soft); } .file > .tick { position: absolute; top: .3rem; right: .65rem; margin: 0; font-size: .86rem; color: var(--soft); } .file:has(> .tick) summary { padding-right: 6.5rem; }
.axis { display: block; width: 100%; min-width: 9rem; height: .75rem; margin-top: .35rem; } .axis rect { fill: var(--good); } .axis .undo { fill: var(--calm); } .axis .probe { fill: var(--link); } .axis .wait { fill: var(--edge); } td:has(.axis) { width: 40%; }
.ident { color: var(--soft); font-size: .86rem; }
.split h2:first-child, .beside h2:first-child, .beside h3:first-child { margin-top: 0; }
.strip { display: block; width: 100%; height: 2.25rem; margin: 0 0 .4rem; }
.strip rect { fill: var(--edge); } .strip .off { fill: var(--removed-word); } .strip .part { fill: var(--ask); } .strip .head { fill: var(--link); } .strip .chosen { fill: var(--ink); }
.timeline { list-style: none; margin: 0; padding: .3rem 0; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); max-height: calc(100vh - 12rem); min-height: 8rem; overflow-y: auto; }
.timeline li { position: relative; padding-left: 1.9rem; }
.timeline li::before { content: ""; position: absolute; left: .92rem; top: 0; bottom: 0; border-left: 2px solid var(--edge); }
.timeline li:first-child::before { top: .9rem; } .timeline li:last-child::before { bottom: calc(100% - .9rem); }
.timeline li.off::before { border-left-style: dotted; }
.timeline li::after { content: ""; position: absolute; left: .63rem; top: .62rem; width: .7rem; height: .7rem; border-radius: 50%; background: var(--soft); border: 2px solid var(--panel); }
.timeline li.off::after { background: var(--panel); border-color: var(--edge); }
.timeline li.head::after { background: var(--link); box-shadow: 0 0 0 2px var(--link); }
.timeline li.event::after { border-radius: 2px; transform: rotate(45deg); width: .55rem; height: .55rem; left: .7rem; background: var(--edge); }
.timeline li.event { color: var(--soft); font-size: .86rem; padding-top: .35rem; padding-bottom: .35rem; padding-right: .6rem; }
.timeline a { display: block; padding: .35rem .6rem .4rem .3rem; color: inherit; text-decoration: none; border-radius: 5px; margin-right: .3rem; }
.timeline a:hover { background: var(--sunk); } .timeline a[aria-current] { background: var(--calm-bg); }
.timeline .what { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.timeline .off .what { text-decoration: line-through; color: var(--soft); }
.timeline .meta { display: flex; gap: .6rem; flex-wrap: wrap; } .timeline .meta > * { min-width: 0; }`;

const DIFFS = `
.file { border: 1px solid var(--line); border-radius: 6px; margin: .45rem 0; background: var(--panel); overflow: clip; }
.file { position: relative; scroll-margin-top: .5rem; }
.file summary { padding: .3rem .65rem; background: var(--sunk); overflow-wrap: anywhere; } .file .notes, .file .cut { padding: 0 .65rem; } .file .wider { margin: 0; padding: .2rem .65rem; border-top: 1px solid var(--line); background: var(--sunk); font-size: .86rem; }
.run { display: grid; grid-template-columns: minmax(0, 20rem) minmax(0, 1fr); } .run + .run { border-top: 1px solid var(--line); } .run .by { margin: 0; padding: .15rem .75rem; background: var(--sunk); font-family: system-ui, sans-serif; overflow-wrap: anywhere; } .run strong { font-weight: 500; }
.diff { overflow: auto; max-height: 40rem; font-size: .86rem; line-height: 1.5; tab-size: 4; } .alone .diff { max-height: none; }
.lines > div { display: flex; white-space: pre-wrap; }
.lines b { flex: none; width: 3.4em; padding-right: .7em; text-align: right; color: var(--soft); font-weight: 400; user-select: none; }
.lines b::before { content: attr(data-n); }
.lines ins, .lines del, .lines span, .lines em { text-decoration: none; font-style: normal; padding: 0 .75rem 0 1.1rem; position: relative; flex: 1 1 0; min-width: 0; overflow-wrap: anywhere; }
.lines .added { background: var(--added); } .lines .removed { background: var(--removed); }
.lines .added > ins::before { content: "+"; position: absolute; left: .25rem; } .lines .removed > del::before { content: "−"; position: absolute; left: .25rem; }
.lines .place { color: var(--soft); background: var(--sunk); padding: .1rem .75rem; } .lines .note > em, .lines em em { color: var(--soft); }
.lines mark, .lines mark [class] { color: var(--ink); } .lines mark { border-radius: 2px; } .lines .added mark { background: var(--added-word); } .lines .removed mark { background: var(--removed-word); }
.lines i { font-style: normal; } .lines .c { color: var(--c-c); } .lines .s { color: var(--c-s); } .lines .n { color: var(--c-n); }
.lines .k { color: var(--c-k); } .lines .f { color: var(--c-f); } .lines .a { color: var(--c-a); } .lines .t { color: var(--c-t); }
@media screen { .message { content-visibility: auto; contain-intrinsic-size: auto 30rem; } }
.tree { list-style: none; padding: 0; margin: 0; } .tree .tree { padding-left: 1.2rem; border-left: 1px solid var(--line); margin-left: .4rem; } .tree li { padding: .2rem 0; }`;

const SMALL = `
@media (max-width: 70rem) { .beside { grid-template-columns: minmax(0, 1fr); } .beside > .side, .beside > .side + div { grid-column: 1; grid-row: auto; position: static; } }
@media (max-width: 50rem) {
  .call > header { flex-wrap: wrap; } .run { grid-template-columns: minmax(0, 1fr); }
  .lines b { width: 2.6em; padding-right: .4em; }
  main { padding: .9rem; } .confirm { margin: 1rem -.9rem -.9rem; padding: .6rem .9rem; } .scopes { width: 100%; flex-direction: column; align-items: stretch; } .scopes a { border-right: 0; border-bottom: 1px solid var(--line); }
  .viewer { margin-left: 0; } .acts > *, .filters > * { min-width: 0; } header { padding: .5rem .9rem; }
  .split { grid-template-columns: minmax(0, 1fr); } .split > aside { position: static; } .timeline { max-height: 15rem; }
  .acts { flex-direction: column; align-items: stretch; } .acts > *, .acts form > * { width: 100%; }
  .filters { display: grid; grid-template-columns: 1fr 1fr; } .filters > button, .filters > div:nth-last-of-type(1):nth-of-type(odd) { grid-column: 1 / -1; }
  input:not([type=checkbox]), select, textarea, button, .button { width: 100%; min-height: 2.75rem; } input:not([type=checkbox]), select, textarea { text-align: left; }
  .copy { width: auto; min-height: 1.75rem; } .acts .copy { align-self: start; } .confirm button { width: auto; flex: 1; }
}
@media screen and (max-width: 40rem) {
  .scroll { overflow: visible; border: 0; background: none; }
  table, tbody { display: block; } thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  tr { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: .35rem .75rem; margin-bottom: .5rem; }
  td, td.number { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: .75rem; padding: .2rem 0; border: 0; text-align: left; white-space: normal; } td:has(.lengthy), td:has(.axis) { min-width: 0; max-width: none; width: auto; }
  td::before { content: attr(data-title); color: var(--soft); font-size: .86rem; } td > div { min-width: 0; overflow-wrap: anywhere; } td:has(> div:empty) { display: none; }
  tr { display: flex; flex-direction: column; } td.head, td.number.head { display: block; order: -1; font-weight: 500; } td.head::before { content: none; } tbody tr:hover td { background: none; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }`;

/**
 * When the reader's own colours are used, no background shows what is chosen or changed, and every border is
 * visible.
 */
const FORCED = `
@media (forced-colors: active) {
  nav a:not([aria-current]) { border-bottom-color: Canvas; }
  .timeline a[aria-current] { outline: 2px solid Highlight; outline-offset: -2px; }
  .lines mark { text-decoration: underline; }
}`;

/** On paper, nobody can scroll or open anything. */
const PAPER = `
@media print {
  header, .acts, .skip, aside, button, .button, .confirm, .scopes { display: none; }
  html { background: none; overflow: visible; } main, main.wide { max-width: none; padding: 0; }
  .split, .beside { display: block; }
  pre, .diff, .scroll, .file { max-height: none; overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .scroll { border: 0; background: none; } table { font-size: .7rem; } th, td { padding: .2rem .3rem; } table :is(th, small, .hint, .badge, .counts, .meta) { font-size: inherit; }
  .long, td:has(.lengthy) { min-width: 0; max-width: none; } .whole, td time, td.number, td .badge, th { white-space: normal; } td .breakable { overflow-wrap: anywhere; }
  h1, h2, h3 { break-after: avoid; } tr { break-inside: avoid; }
}`;

export const STYLE = [COLOURS, TYPE, FRAME, TABLES, FORMS, SESSION, DIFFS, SMALL, FORCED, PAPER].join('');
