import { createHash } from 'node:crypto';
import { escapeXml } from '../graph/printable-text.js';
import type { Chart } from '../print/chart/chart.js';
import { printLegend, printParts, type SvgOptions } from '../print/chart/svg.js';
import { STUDIO_SCRIPT } from './script.js';
import { STUDIO_STYLE } from './style.js';

/** A piece of HTML. Texts become one through {@link html} alone, which escapes them. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | false | undefined | readonly Piece[];

/** HTML with escaped texts in it: `html`<p>${name}</p>``. `false` and `undefined` leave no text, lists are joined. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.map((text, index) => text + textOf(pieces[index])).join(''));
}

function textOf(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(textOf).join('');
  return escapeXml(String(piece), 'keep');
}

/** A part of a page. One that is live is replaced when it changes. */
export interface Part {
  /** Of its element. */
  readonly id: string;
  readonly content: Html;
}

/** What a page shows. */
export interface View {
  readonly title: string;
  /** The tab that it belongs to. */
  readonly tab?: 'runs' | 'workflows';
  readonly parts: readonly Part[];
  /** The address of its changes, of a page that is live. */
  readonly live?: string;
}

interface Frame {
  /** The name of the store. */
  readonly store: string;
  /** Who looks at it. Missing for a reader without a token. */
  readonly user?: string;
  /** Of the form that signs out. */
  readonly formKey?: string;
}

/** The files of all pages, by their addresses. An address is that of one text for ever, so that browsers keep it. */
export const ASSETS: ReadonlyMap<string, { readonly text: string; readonly type: string }> = new Map([
  [addressOf('studio.css', STUDIO_STYLE), { text: STUDIO_STYLE, type: 'text/css; charset=utf-8' }],
  [addressOf('studio.js', STUDIO_SCRIPT), { text: STUDIO_SCRIPT, type: 'text/javascript; charset=utf-8' }],
]);

function addressOf(file: string, text: string): string {
  return `/${file}?${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

const [STYLE_ADDRESS, SCRIPT_ADDRESS] = [...ASSETS.keys()];

/** A piece: bundlers rewrite tagged templates that close a script, by a helper of a package of theirs. */
const SCRIPT = new Html(`<script src="${SCRIPT_ADDRESS}" defer></script>`);

/** A whole page. */
export function pageOf({ title, tab, parts, live }: View, { store, user, formKey }: Frame): string {
  const link = (name: string, href: string, isOpen: boolean): Html =>
    html`<a href="${href}"${isOpen && new Html(' aria-current="page"')}>${name}</a>`;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Stepwright Studio</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_ADDRESS}">
${SCRIPT}
</head>
<body${live !== undefined && html` data-live="${live}"`}>
<a class="skip" href="#main">To the content</a>
<header class="bar">
<a class="brand" href="/runs">Stepwright <b>Studio</b></a>
<nav aria-label="Views">${link('Runs', '/runs', tab === 'runs')}${link('Workflows', '/workflows', tab === 'workflows')}</nav>
<span class="where" title="The store, and who you are">${user === undefined ? '' : `${store} · ${user}`}</span>
${formKey !== undefined && html`<form method="post" action="/sign-out"><input type="hidden" name="key" value="${formKey}"><button class="quiet">Sign out</button></form>`}
${live !== undefined && html`<span id="link" role="status"></span>`}
</header>
<main id="main">
${parts.map(({ id, content }) => html`<section id="${id}">${content}</section>\n`)}</main>
</body>
</html>
`;
  return text;
}

/** What a page says first, if there is something to say. */
export function noticeParts(text: Html | string | undefined): readonly Part[] {
  return text === undefined
    ? []
    : [{ id: 'notice', content: html`<p class="notice" role="alert">${text}</p>` }];
}

/** The page of a reader without a token. @param why its last one opens no page. */
export function signInView(hint: Html, to: string, why: string | undefined): View {
  const content = html`<h1>Sign in</h1><p>${hint}</p>${why !== undefined && html`<p class="notice" role="alert">${why}</p>`}<form class="sheet" method="post" action="/sign-in"><input type="hidden" name="to" value="${to}"><label>Token <input name="token" type="password" required autocomplete="off"></label><button class="main">Open the page</button></form>`;
  return { title: 'Sign in', parts: [{ id: 'sign-in', content }] };
}

/** A time, in UTC. The script of the page shows it in the zone of its reader. */
export function time(ms: number | string): Html {
  const iso = new Date(ms).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

/** A status with its colour. */
export function status(name: string): Html {
  return html`<span class="status ${/^[a-z]+$/.test(name) ? name : 'other'}">${name}</span>`;
}

/** A value as JSON; a text as it is. */
export function json(value: unknown): Html {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'absent');
  return html`<pre tabindex="0">${text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}\n… ${text.length - MOST_CHARS} more characters` : text}</pre>`;
}

/** The most characters of a value on a page. */
const MOST_CHARS = 20_000;

/** Members as a list of names and values. */
export function members(entries: readonly (readonly [name: string, value: Html | string])[]): Html {
  return html`<dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A chart in its own size, so that its texts are legible, beside the one for a phone; and its legend. */
export function picture(
  chart: Chart,
  label: string,
  options: Pick<SvgOptions, 'states' | 'linkOf'> = {},
): Html {
  const parts = printParts(chart, options).map(({ name, svg, width, height }, _, all) => {
    const kind = all.length === 1 ? '' : ` size-${name}`;
    return svg.replace('<svg class="chart"', `<svg class="chart${kind}" width="${width}" height="${height}"`);
  });
  return html`<div class="graph" tabindex="0" role="group" aria-label="${label}">${new Html(parts.join(''))}</div>${new Html(printLegend([chart], options.states))}`;
}

/** The most characters of a reason, in its field and on arrival. */
export const MOST_REASON_CHARS = 500;
