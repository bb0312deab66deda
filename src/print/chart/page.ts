import { defined } from '../../graph/defined.js';
import type { Json } from '../../graph/json.js';
import { elapsedText, escapeUnprintable, escapeXml } from '../../graph/printable-text.js';
import type { Chart, ChartBox } from './chart.js';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-script.js';
import { type BoxState, CHART_STYLE, printLegend, printParts } from './svg.js';

export interface PageChart {
  readonly chart: Chart;
  /** A run of the workflow, if one is shown. */
  readonly run?: PageRun;
}

export interface PageRun {
  /** On a line: its name, its status and its times. */
  readonly text: string;
  /** By the keys of boxes. */
  readonly states: ReadonlyMap<string, PageState>;
}

export interface PageState extends BoxState {
  /** Further lines of the details: attempts, times, the failure. */
  readonly details: readonly (readonly [name: string, text: string])[];
}

/** @param hash the base64 of the SHA-256 hash of a text in UTF-8. */
export interface PageOptions {
  readonly title: string;
  readonly hash: (text: string) => string;
}

/**
 * A page of charts: moved by dragging and arrow keys, scaled by the wheel, with a search and the details of each node.
 * It is one file that requests nothing; its policy permits its own script and style alone, by their hashes. Data is in a
 * block of JSON without `<`, and is shown as text.
 */
export function printPage(charts: readonly PageChart[], { title, hash }: PageOptions): string {
  const style = `${PAGE_STYLE}${CHART_STYLE}`;
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash(PAGE_SCRIPT)}'`,
    `style-src 'sha256-${hash(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const states = charts.flatMap(({ run }) => [...(run?.states ?? [])]);
  const options = charts.map(({ chart }) => `<option>${escapeXml(chart.name)}</option>`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeXml(title)}</title>
<style>${style}</style>
</head>
<body>
<header>
<select id="workflow" aria-label="Workflow">${options}</select>
<span id="about"></span>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search steps" autocomplete="off">
<span id="count" role="status"></span>
<button id="out" type="button" aria-label="Zoom out" title="Zoom out ( - )">−</button>
<button id="in" type="button" aria-label="Zoom in" title="Zoom in ( + )">+</button>
<button id="fit" type="button" title="Back to the start ( 0 )">Fit</button>
</header>
<main>
<div id="stage">
${charts.map(chartPart).join('\n')}
</div>
<aside id="details" aria-label="Details of a step" hidden></aside>
</main>
<footer>${printLegend(
    charts.map(({ chart }) => chart),
    states.length === 0 ? undefined : new Map(states),
  )}</footer>
<script id="charts" type="application/json">${scriptJson(charts.map(chartJson))}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

/** The size is for the script: the image itself is as large as the page. */
function chartPart({ chart, run }: PageChart, index: number): string {
  const parts = printParts(chart, { idPrefix: `c${index}-`, ...defined({ states: run?.states }) });
  return parts
    .map(({ svg, width, height }) =>
      svg
        .replace(/viewBox="[^"]*"/, `data-index="${index}" data-width="${width}" data-height="${height}"`)
        .replace('<svg ', `<svg hidden width="${width}" `),
    )
    .join('\n');
}

function chartJson({ chart, run }: PageChart): Json {
  const boxes: [string, Json][] = [];
  const add = (box: ChartBox): void => {
    const state = run?.states.get(box.key);
    const lines = [...(state?.details ?? []), ...box.details].map(([name, value]) => [
      name,
      escapeUnprintable(value, 'keep'),
    ]);
    const search = [box.key, box.title, ...lines.map(([, value]) => value)].join('\n').toLowerCase();
    boxes.push([box.key, { title: escapeUnprintable(box.title), lines, search }]);
    for (const group of box.groups) group.boxes.forEach(add);
  };
  chart.group.boxes.forEach(add);
  const about = run === undefined ? chart.description : run.text;
  return { about: escapeUnprintable(about), boxes: Object.fromEntries(boxes) };
}

/** JSON that cannot end the element it is in. */
function scriptJson(value: Json): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** How a node of a run did, over all items of the loops around it. Times are ms since the epoch. */
interface ShownNodeState {
  readonly status: string;
  readonly counts: Readonly<Record<string, number | undefined>>;
  readonly attempts: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly reason?: string;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** The states of a run, as its chart shows them. */
export function shownStates(states: ReadonlyMap<string, ShownNodeState>): ReadonlyMap<string, PageState> {
  return new Map([...states].map(([key, state]) => [key, shownState(state)]));
}

function shownState(state: ShownNodeState): PageState {
  const { status, counts, attempts, startedAt, endedAt, reason, failure } = state;
  const entries = Object.entries(counts);
  const items = entries.reduce((sum, [, count = 0]) => sum + count, 0);
  const elapsed = startedAt === undefined || endedAt === undefined ? [] : [elapsedText(endedAt - startedAt)];
  const several = entries.map(([name, count]) => `${count} ${name}`).join(', ');
  const shown = items === 1 ? status : several;
  const tries = items === 1 && attempts > 1 ? ` (${attempts}×)` : '';
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    status,
    text: [`${shown}${tries}`, ...elapsed].join(' · '),
    details: [
      ['status', reason === undefined ? shown : `${shown}: ${reason}`],
      ...(attempts === 0 ? [] : [['attempts', String(attempts)] as const]),
      ...(startedAt === undefined ? [] : [['started', time(startedAt)] as const]),
      ...(endedAt === undefined ? [] : [['ended', time(endedAt)] as const]),
      ...elapsed.map((text) => ['took', text] as const),
      ...(failure === undefined ? [] : [['failure', `${failure.code}: ${failure.message}`] as const]),
    ],
  };
}
