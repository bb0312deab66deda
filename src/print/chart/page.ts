import { defined } from '../../graph/defined.js';
import type { Json } from '../../graph/json.js';
import { elapsedText, escapeUnprintable, escapeXml } from '../../graph/printable-text.js';
import type { Chart, ChartBox } from './chart.js';
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

/**
 * The script of a page of charts. It is a text of its own, since it runs in a browser and not here. It reads the JSON of
 * the page, moves and scales the chart, searches, and shows details as text, never as markup.
 */
const PAGE_SCRIPT = String.raw`
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('charts').textContent);
  const find = (id) => document.getElementById(id);
  const stage = find('stage'), panel = find('details'), search = find('search'), count = find('count');
  const chooser = find('workflow');
  const step = 60, least = 0.02, most = 8;
  let svg, view, at = { x: 0, y: 0, k: 1 }, boxes = new Map(), hits = [], hit = -1, chosen, chart;

  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind !== undefined) element.className = kind;
    return element;
  };
  let isDue = false;
  const move = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      view.setAttribute('transform', 'translate(' + at.x + ' ' + at.y + ') scale(' + at.k + ')');
    });
  };
  const zoom = (factor, x, y) => {
    const k = Math.min(most, Math.max(least, at.k * factor));
    at = { k, x: x - ((x - at.x) * k) / at.k, y: y - ((y - at.y) * k) / at.k };
    move();
  };
  const middle = () => [stage.clientWidth / 2, stage.clientHeight / 2];
  // A chart begins at its top, as wide as the page at most, and never so small that its texts are not legible.
  const fit = () => {
    const w = Number(svg.dataset.width), h = Number(svg.dataset.height);
    const k = Math.min(1, stage.clientWidth / (w + 16));
    at = { k, x: (stage.clientWidth - w * k) / 2, y: Math.max(16, Math.min(48, (stage.clientHeight - h * k) / 2)) };
    move();
  };
  const centre = (box) => {
    const body = box.querySelector('.body');
    const get = (name) => Number(body.getAttribute(name));
    at.k = Math.max(at.k, 0.8);
    at.x = stage.clientWidth / 2 - (get('x') + get('width') / 2) * at.k;
    at.y = Math.min(stage.clientHeight / 2 - (get('y') + Math.min(get('height') / 2, 40)) * at.k, stage.clientHeight);
    move();
  };
  const show = (key) => {
    if (chosen !== undefined) chosen.classList.remove('chosen');
    chosen = boxes.get(key);
    const details = chart.boxes[key];
    panel.replaceChildren();
    if (chosen === undefined || details === undefined) {
      panel.hidden = true;
      return;
    }
    chosen.classList.add('chosen');
    panel.hidden = false;
    const close = make('button', '×', 'close');
    close.setAttribute('aria-label', 'Close the details');
    close.addEventListener('click', hide);
    panel.append(close, make('h2', details.title));
    const list = make('dl');
    for (const [name, text] of details.lines) {
      if (name !== '') list.append(make('dt', name));
      const isLong = text.includes('\n') || name === 'input' || name === 'failure';
      const value = make('dd');
      value.append(make(isLong ? 'pre' : 'span', text));
      list.append(value);
    }
    panel.append(list);
  };
  const hide = () => {
    const box = chosen;
    show(undefined);
    if (box !== undefined) box.focus({ preventScroll: true });
  };
  const look = () => {
    for (const box of svg.querySelectorAll('.match')) box.classList.remove('match');
    const wanted = search.value.trim().toLowerCase();
    hits = wanted === '' ? [] : Object.keys(chart.boxes).filter((key) => chart.boxes[key].search.includes(wanted));
    hit = -1;
    for (const key of hits) boxes.get(key)?.classList.add('match');
    count.textContent = wanted === '' ? '' : hits.length === 0 ? 'none' : hits.length + ' found';
    if (hits.length > 0) next(1);
  };
  const next = (by) => {
    if (hits.length === 0) return;
    hit = (hit + by + hits.length) % hits.length;
    count.textContent = hit + 1 + ' of ' + hits.length;
    centre(boxes.get(hits[hit]));
    show(hits[hit]);
  };
  // The widest image of the chart that the page has room for.
  const choose = () => {
    const all = [...stage.querySelectorAll('svg[data-index="' + chooser.selectedIndex + '"]')];
    const next = all.find((each) => stage.clientWidth >= Number(each.dataset.width)) ?? all.at(-1);
    if (next === svg) return false;
    svg?.setAttribute('hidden', '');
    next.removeAttribute('hidden');
    svg = next;
    view = svg.querySelector('.view');
    boxes = new Map([...svg.querySelectorAll('.box')].map((box) => [box.dataset.key, box]));
    return true;
  };
  const open = () => {
    chart = data[chooser.selectedIndex];
    choose();
    find('about').textContent = chart.about;
    show(undefined);
    search.value = '';
    look();
    fit();
  };
  const boxOf = (event) => (event.target instanceof Element ? event.target.closest('.box') : null);

  let drag;
  stage.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, from: { ...at }, box: boxOf(event), isMove: false };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener('pointermove', (event) => {
    if (drag === undefined) return;
    const x = event.clientX - drag.x, y = event.clientY - drag.y;
    if (!drag.isMove && Math.hypot(x, y) < 4) return;
    drag.isMove = true;
    stage.classList.add('moving');
    at = { ...drag.from, x: drag.from.x + x, y: drag.from.y + y };
    move();
  });
  const drop = (event) => {
    if (drag === undefined) return;
    const { box, isMove } = drag;
    drag = undefined;
    stage.classList.remove('moving');
    if (event.type === 'pointerup' && !isMove && box !== null) {
      box.focus({ preventScroll: true });
      show(box.dataset.key);
    }
  };
  stage.addEventListener('pointerup', drop);
  stage.addEventListener('pointercancel', drop);
  stage.addEventListener('wheel', (event) => {
    event.preventDefault();
    const place = stage.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey || !event.shiftKey)
      zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - place.left, event.clientY - place.top);
    else {
      at.x -= event.deltaY;
      move();
    }
  }, { passive: false });
  // Chrome scrolls a focused box into view, which would move the stage itself.
  stage.addEventListener('scroll', () => { stage.scrollTop = 0; stage.scrollLeft = 0; });
  stage.addEventListener('focusin', (event) => {
    const box = boxOf(event);
    if (box === null || drag !== undefined || !box.matches(':focus-visible')) return;
    const place = stage.getBoundingClientRect(), own = box.getBoundingClientRect();
    if (own.top < place.top || own.left < place.left || own.top > place.bottom - 40 || own.left > place.right - 40) centre(box);
  });
  stage.addEventListener('keydown', (event) => {
    const box = boxOf(event);
    if (box === null || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    show(box.dataset.key);
  });
  search.addEventListener('input', look);
  search.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    next(event.shiftKey ? -1 : 1);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (document.activeElement === search && search.value !== '') {
        search.value = '';
        look();
      }
      hide();
      return;
    }
    if (document.activeElement === search || document.activeElement === chooser) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowUp: [0, step], ArrowDown: [0, -step], ArrowLeft: [step, 0], ArrowRight: [-step, 0] };
    if (event.key === '/') search.focus();
    else if (event.key === '+' || event.key === '=') zoom(1.25, ...middle());
    else if (event.key === '-') zoom(0.8, ...middle());
    else if (event.key === '0') fit();
    else if (moves[event.key] !== undefined) {
      at.x += moves[event.key][0];
      at.y += moves[event.key][1];
      move();
    } else return;
    event.preventDefault();
  });
  find('in').addEventListener('click', () => zoom(1.25, ...middle()));
  find('out').addEventListener('click', () => zoom(0.8, ...middle()));
  find('fit').addEventListener('click', fit);
  chooser.addEventListener('change', open);
  addEventListener('resize', () => {
    if (choose()) {
      show(undefined);
      look();
    }
    fit();
  });
  // On paper the whole chart is in its own size, as wide as the page at most.
  addEventListener('beforeprint', () => svg.setAttribute('viewBox', '0 0 ' + svg.dataset.width + ' ' + svg.dataset.height));
  addEventListener('afterprint', () => svg.removeAttribute('viewBox'));
  chooser.selectedIndex = 0;
  open();
})();
`;

/** The style of the page around the charts. */
const PAGE_STYLE = `
:root{color-scheme:light dark;--page:#fff;--text:#1f2430;--mute:#5b6472;--rule:#d9dde4;--panel:#fff;--accent:#2f6fde;--mark:#ffb020}
@media (prefers-color-scheme:dark){:root{--page:#14171c;--text:#e6e9ef;--mute:#a2abb9;--rule:#323945;--panel:#1a1e25;--accent:#6ea2ff;--mark:#e0ae55}}
*{box-sizing:border-box}
[hidden]{display:none!important}
html,body{height:100%;margin:0}
body{display:grid;grid-template:auto 1fr auto/minmax(0,1fr);background:var(--page);color:var(--text);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{display:flex;flex-wrap:wrap;align-items:center;gap:8px;padding:8px 12px;border-bottom:1px solid var(--rule)}
header select{font-weight:600;max-width:min(20em,100%)}
select,input,button{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:4px 8px}
button{cursor:pointer;min-width:32px}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
#about{flex:1 1 10em;min-width:0;color:var(--mute);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
#search{flex:0 1 14em;min-width:7em}
#count{color:var(--mute);font-variant-numeric:tabular-nums}
footer{padding:8px 12px;border-top:1px solid var(--rule);color:var(--mute)}
main{position:relative;min-height:0;overflow:hidden}
#stage{position:absolute;inset:0;overflow:hidden;cursor:grab;touch-action:none}
#stage.moving{cursor:grabbing}
#stage svg{position:absolute;inset:0;width:100%;height:100%;user-select:none}
.box{cursor:pointer;outline:none}
.box:focus-visible>.body{stroke:var(--accent);stroke-width:3}
.box.match>.body{stroke:var(--mark);stroke-width:3}
.box.chosen>.body{stroke:var(--accent);stroke-width:3}
#details{position:absolute;top:0;right:0;bottom:0;width:min(380px,90%);overflow:auto;padding:12px 16px;background:var(--panel);border-left:1px solid var(--rule);box-shadow:-6px 0 18px #0002}
#details h2{margin:0 32px 8px 0;font-size:16px;overflow-wrap:anywhere}
#details .close{position:absolute;top:8px;right:8px}
#details dl{margin:0}
#details dt{margin-top:10px;color:var(--mute);font-size:12px}
#details dd{margin:2px 0 0;overflow-wrap:anywhere}
#details pre{margin:0;padding:8px;border-radius:6px;background:#8881;font:12px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap}
@media (max-width:640px){#about{order:1;flex-basis:100%}#search{flex:1 1 7em}header{gap:6px}}
@media print{header,footer,#details{display:none}html,body{height:auto}body,main,#stage{display:block;position:static;overflow:visible}#stage svg{position:static;display:block;margin:0 auto;width:auto;max-width:100%;height:auto}.view{transform:none}}
`;
