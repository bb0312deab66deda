import { getOrInsert } from '../../graph/maps.js';
import { escapeXml, inlineText } from '../../graph/printable-text.js';
import type { Chart, ChartArrow, ChartBox, ChartGroup } from './chart.js';
import { type ArrowPath, columnOf, type Layout, layoutOf, type Point, type Size } from './layout.js';

/** How a node of a run did. */
export interface BoxState {
  /** A status of nodes, such as `succeeded`. */
  readonly status: string;
  /** The status with attempts and times, on a line. */
  readonly text: string;
}

export interface SvgOptions {
  /** The states of a run, by the keys of boxes. */
  readonly states?: ReadonlyMap<string, BoxState>;
  /** Whether it is a part of a page, which has the style sheet and the legend, and handles its boxes. Default: false. */
  readonly isPart?: boolean;
  /** The address that a box of a part leads to, by its key. Default: the script of the page handles boxes. */
  readonly linkOf?: (key: string) => string;
  /** Makes the ids of the chart unique in a page. Default: empty. */
  readonly idPrefix?: string;
  /** The width to keep to, in pixels. A chart is wider only if boxes in boxes leave no room for texts. Default: 700. */
  readonly room?: number;
}

/** The widths of charts, in pixels: beside the text of a page or on paper, and on a phone. */
export const CHART_ROOM = { wide: 700, narrow: 336 } as const;

/** A chart as parts of a page: one for a phone beside the other if they differ. The page shows one of them. */
export function printParts(
  chart: Chart,
  options: Omit<SvgOptions, 'isPart' | 'room'> = {},
): readonly SvgPart[] {
  const { idPrefix = '' } = options;
  const print = (name: keyof typeof CHART_ROOM): SvgPart => {
    const room = CHART_ROOM[name];
    const svg = printSvg(chart, { ...options, isPart: true, room, idPrefix: `${idPrefix}${name}-` });
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
    return { name, svg, width: Number(width), height: Number(height) };
  };
  const wide = print('wide');
  return wide.width <= CHART_ROOM.narrow ? [wide] : [wide, print('narrow')];
}

/** A chart within a page. */
export interface SvgPart extends Size {
  readonly name: keyof typeof CHART_ROOM;
  readonly svg: string;
}

/** A chart as a self-contained SVG image with a legend. The same chart gives the same bytes. */
export function printSvg(chart: Chart, options: SvgOptions = {}): string {
  const { states, isPart = false, idPrefix = '', linkOf, room = CHART_ROOM.wide } = options;
  const margin = isPart ? 2 : MARGIN;
  const sized = sizedChart(chart, room - 2 * margin, states !== undefined);
  const legend = isPart
    ? undefined
    : placedLegend(legendOf([chart], states), Math.max(sized.width, MAX_WIDTH));
  const width = Math.max(sized.width, legend?.width ?? 0) + 2 * margin;
  const height = sized.height + 2 * margin + (legend === undefined ? 0 : legend.height + margin);
  const printing: Printing = { states: states ?? new Map(), isPart, linkOf, marker: `${idPrefix}arrow` };
  const body = printGroup(sized, { x: Math.round((width - sized.width) / 2), y: margin }, printing);
  const root = isPart
    ? `<svg class="chart" viewBox="0 0 ${width} ${height}" aria-label="${escapeXml(chart.name)}">`
    : `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(chart.name)}">`;
  const title = isPart ? [] : [`<title>${escapeXml(`${chart.name}: ${chart.description}`)}</title>`];
  const style = isPart ? [] : [`<style>${CHART_STYLE}</style>`];
  const markers = ARROW_KINDS.map(
    (kind) =>
      `<marker id="${printing.marker}-${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head a-${kind}" d="M0 0L8 4L0 8z"/></marker>`,
  );
  const heads = `<defs>${markers.join('')}</defs>`;
  const paper = isPart ? [] : [`<rect class="paper" width="${width}" height="${height}"/>`];
  const key = legend?.print({ x: margin, y: sized.height + 2 * margin }) ?? [];
  return [
    root,
    ...title,
    ...style,
    heads,
    ...paper,
    '<g class="view">',
    ...body,
    ...key,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const ARROW_KINDS: readonly ChartArrow['kind'][] = ['order', 'select', 'undo', 'back'];

const MARGIN = 16;
const PADDING = 12;
const TITLE_HEIGHT = 18;
const LINE_HEIGHT = 16;
const GROUP_GAP = 16;
const LEAST_WIDTH = 112;
/** Of a box with a state, so that most fit. */
const LEAST_STATE_WIDTH = 216;
/** The most pixels of a line of text. */
const MAX_WIDTH = 320;
const MAX_LABEL_WIDTH = 200;
const MAX_TITLE_LINES = 5;
/** The most lines for one fact of a box, and for all. The whole text is among the details. */
const MAX_FACT_LINES = 3;
const MAX_LINES = 9;
/** Font sizes in pixels. Bold text is wider than its size says. */
const TITLE_SIZE = 13 * 1.12;
const LINE_SIZE = 12;
const STATE_SIZE = 12 * 1.12;

interface SizedBox extends Size {
  readonly box: ChartBox;
  readonly title: readonly string[];
  readonly lines: readonly string[];
  /** Of its texts, without what is inside. */
  readonly headHeight: number;
  readonly groups: PlacedGroups;
}

interface PlacedGroups extends Size {
  readonly groups: readonly SizedGroup[];
  /** Their upper left corners. */
  readonly corners: readonly Point[];
}

interface SizedGroup extends Size {
  readonly group: ChartGroup;
  /** The lines of its title; none for a group without a frame. */
  readonly title: readonly string[];
  readonly boxes: readonly SizedBox[];
  readonly labels: readonly (readonly string[])[];
  readonly layout: Layout;
}

/** Sizes do not depend on states: boxes stay where they are while a run continues, and are placed once. */
const sizedCharts = new WeakMap<Chart, Map<string, SizedGroup>>();

function sizedChart(chart: Chart, room: number, hasStates: boolean): SizedGroup {
  const sizes = getOrInsert(sizedCharts, chart, () => new Map<string, SizedGroup>());
  const key = `${room} ${hasStates}`;
  const sized = getOrInsert(sizes, key, () => sizeGroup(chart.group, room, hasStates));
  return sized;
}

function sizeGroup(group: ChartGroup, room: number, hasStates: boolean): SizedGroup {
  const { title: text } = group;
  const inner = text === undefined ? room : room - 2 * PADDING;
  const labels = group.arrows.map(({ text: label }) =>
    label === undefined ? [] : wrapText(inlineText(label), LINE_SIZE, MAX_LABEL_WIDTH, MAX_FACT_LINES),
  );
  const arrows = group.arrows.map(({ from, to, kind }, index) => {
    const lines = labels[index] ?? [];
    const label = { width: widest(lines, LINE_SIZE) + 8, height: lines.length * LINE_HEIGHT };
    return { from, to, isBack: kind === 'back', ...(lines.length > 0 && { label }) };
  });
  const lanes = columnOf(group.boxes.length, arrows, inner).width;
  const boxes = group.boxes.map((box) => sizeBox(box, inner - lanes, hasStates));
  const layout = layoutOf({ boxes, arrows, room: inner });
  const titleWidth = Math.max(layout.width, Math.min(MAX_WIDTH, inner));
  const title = text === undefined ? [] : wrapText(inlineText(text), LINE_SIZE, titleWidth, MAX_TITLE_LINES);
  const frame = title.length === 0 ? 0 : 2 * PADDING;
  const width = Math.max(layout.width, widest(title, LINE_SIZE)) + frame;
  const height = layout.height + frame + title.length * LINE_HEIGHT;
  return { group, title, boxes, labels, layout, width, height };
}

function sizeBox(box: ChartBox, room: number, hasStates: boolean): SizedBox {
  const inner = Math.max(room - 2 * PADDING, LEAST_WIDTH);
  const most = Math.min(MAX_WIDTH, inner - 4);
  const facts = box.lines.flatMap((line) =>
    wrapText(withoutLineBreaks(inlineText(line)), LINE_SIZE, most, MAX_FACT_LINES),
  );
  const lines = facts.length > MAX_LINES ? [...facts.slice(0, MAX_LINES - 1), '…'] : facts;
  const title = wrapText(inlineText(box.title), TITLE_SIZE, most, MAX_TITLE_LINES);
  const sized = box.groups
    .map((group) => sizeGroup(group, inner, hasStates))
    .filter((group) => group.boxes.length > 0 || group.title.length > 0);
  const groups = placeGroups(sized, inner);
  const headHeight = title.length * TITLE_HEIGHT + (lines.length + (hasStates ? 1 : 0)) * LINE_HEIGHT;
  const least = hasStates ? Math.min(LEAST_STATE_WIDTH, inner) : LEAST_WIDTH;
  const textsWidth = Math.max(widest(title, TITLE_SIZE), widest(lines, LINE_SIZE));
  return {
    ...{ box, title, lines, headHeight, groups },
    width: Math.max(least, textsWidth + 4, groups.width) + 2 * PADDING,
    height: headHeight + 2 * PADDING + (sized.length === 0 ? 0 : groups.height + PADDING),
  };
}

/** Groups beside each other, in as many rows as their room makes necessary. */
function placeGroups(groups: readonly SizedGroup[], room: number): PlacedGroups {
  const rows: { readonly groups: SizedGroup[]; width: number }[] = [];
  for (const group of groups) {
    const row = rows.at(-1);
    const width = row === undefined ? 0 : row.width + GROUP_GAP + group.width;
    if (row === undefined || width > room) rows.push({ groups: [group], width: group.width });
    else {
      row.groups.push(group);
      row.width = width;
    }
  }
  const width = rows.reduce((most, row) => Math.max(most, row.width), 0);
  const corners: Point[] = [];
  let y = 0;
  for (const row of rows) {
    let x = Math.round((width - row.width) / 2);
    for (const group of row.groups) {
      corners.push({ x, y });
      x += group.width + GROUP_GAP;
    }
    y += row.groups.reduce((most, { height }) => Math.max(most, height), 0) + GROUP_GAP;
  }
  return { groups, corners, width, height: Math.max(0, y - GROUP_GAP) };
}

/** Line breaks of quoted texts are noise in a box. */
function withoutLineBreaks(text: string): string {
  return text.replaceAll(/(?<!\\)(?:\\[nr])+/g, ' ');
}

function widest(lines: readonly string[], fontSize: number): number {
  return lines.reduce((most, line) => Math.max(most, textWidth(line, fontSize)), 0);
}

interface Printing {
  readonly states: ReadonlyMap<string, BoxState>;
  readonly isPart: boolean;
  readonly linkOf: SvgOptions['linkOf'];
  /** The beginning of the ids of arrow heads. */
  readonly marker: string;
}

function printGroup(
  { group, title, boxes, labels, layout, width, height }: SizedGroup,
  at: Point,
  printing: Printing,
): string[] {
  const isFramed = title.length > 0;
  const head = isFramed ? PADDING + title.length * LINE_HEIGHT : 0;
  const origin = { x: at.x + Math.round((width - layout.width) / 2), y: at.y + head };
  const frame = isFramed
    ? [
        `<rect class="group" x="${at.x}" y="${at.y}" width="${width}" height="${height}" rx="6"/>`,
        ...printLines(title, 'group-title', LINE_HEIGHT, { x: at.x + PADDING, y: at.y + PADDING + 6 }),
      ]
    : [];
  const pathOf = (index: number): ArrowPath => layout.arrows[index] ?? { points: [] };
  return [
    ...frame,
    ...group.arrows.map(({ kind }, index) => printArrow(kind, pathOf(index), origin, printing)),
    ...labels.flatMap((lines, index) => printLabel(lines, pathOf(index), origin)),
    ...boxes.flatMap((box, index) => {
      const corner = layout.boxes[index] ?? { x: 0, y: 0 };
      return printBox(box, { x: origin.x + corner.x, y: origin.y + corner.y }, printing);
    }),
  ];
}

function printLines(lines: readonly string[], kind: string, height: number, { x, y }: Point): string[] {
  return lines.map(
    (line, index) => `<text class="${kind}" x="${x}" y="${y + index * height}">${escapeXml(line)}</text>`,
  );
}

function printBox(sized: SizedBox, at: Point, printing: Printing): string[] {
  const { box, title, lines, width, height, headHeight, groups } = sized;
  const state = printing.states.get(box.key);
  const states = state === undefined ? '' : ` s-${stateClass(state.status)}`;
  const { isPart, linkOf } = printing;
  const handled = isPart && linkOf === undefined ? ' tabindex="0" role="button"' : '';
  const textRoom = width - 2 * PADDING - 4;
  const stateLines = state === undefined ? [] : wrapText(inlineText(state.text), STATE_SIZE, textRoom, 1);
  const text = `${title.join(' ')}: ${[...lines, ...(state === undefined ? [] : [inlineText(state.text)])].join(' ')}`;
  const label = isPart ? ` aria-label="${escapeXml(text)}"` : '';
  const link = linkOf && `<a href="${escapeXml(linkOf(box.key))}"${label}>`;
  const inside = {
    x: at.x + Math.round((width - groups.width) / 2),
    y: at.y + PADDING + headHeight + PADDING,
  };
  const content = groups.groups.flatMap((group, index) => {
    const { x, y } = groups.corners[index] ?? { x: 0, y: 0 };
    return printGroup(group, { x: inside.x + x, y: inside.y + y }, printing);
  });
  const textX = at.x + PADDING + 4;
  const titleY = at.y + PADDING + 12;
  const linesY = titleY + title.length * TITLE_HEIGHT;
  const stateY = linesY + lines.length * LINE_HEIGHT;
  const around = groups.groups.length > 0 ? ' around' : '';
  return [
    ...(link === undefined ? [] : [link]),
    `<g class="box k-${box.shape}${states}${around}" data-key="${escapeXml(box.key)}"${handled}${link === undefined ? label : ''}>`,
    ...printBody(box.shape, { ...at, width, height }),
    ...printLines(title, 'title', TITLE_HEIGHT, { x: textX, y: titleY }),
    ...printLines(lines, 'line', LINE_HEIGHT, { x: textX, y: linesY }),
    ...printLines(stateLines, 'state', LINE_HEIGHT, { x: textX, y: stateY }),
    link === undefined ? '</g>' : '</g></a>',
    ...content,
  ];
}

/** The outline of a box, and the bar with the colour of its kind. */
function printBody(shape: string, { x, y, width, height }: Point & Size): string[] {
  const isRound = ROUND.has(shape);
  const bar = Math.min(isRound ? PADDING : PADDING / 2, height / 6);
  return [
    `<rect class="body" x="${x}" y="${y}" width="${width}" height="${height}" rx="${Math.min(isRound ? 14 : 6, height / 3)}"/>`,
    `<rect class="bar" x="${x + (isRound ? 6 : 0)}" y="${y + bar}" width="4" height="${height - 2 * bar}" rx="2"/>`,
  ];
}

const ROUND: ReadonlySet<string> = new Set(['end', 'question']);

function stateClass(status: string): string {
  return /^[a-z]+$/.test(status) ? status : 'other';
}

function printArrow(
  kind: ChartArrow['kind'],
  { points }: ArrowPath,
  origin: Point,
  { marker }: Printing,
): string {
  const moved = points.map(({ x, y }) => ({ x: x + origin.x, y: y + origin.y }));
  return `<path class="arrow a-${kind}" d="${curve(moved)}" marker-end="url(#${marker}-${kind})"/>`;
}

function printLabel(lines: readonly string[], { label }: ArrowPath, origin: Point): string[] {
  if (label === undefined) return [];
  const top = label.y - Math.round((lines.length * LINE_HEIGHT) / 2) + 12;
  return printLines(lines, 'arrow-text', LINE_HEIGHT, { x: label.x + origin.x, y: top + origin.y });
}

/** A path that is vertical at each of its points, but for straight lines across; their corners are round. */
function curve(points: readonly Point[]): string {
  return points
    .map((to, index) => {
      const [from, next] = [points[index - 1], points[index + 1]];
      if (from === undefined) return `M${to.x} ${to.y}`;
      if (from.x !== to.x && from.y !== to.y) {
        const middle = Math.round((from.y + to.y) / 2);
        return `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
      }
      const isCorner = next !== undefined && (from.y === to.y ? next.x === to.x : next.y === to.y);
      if (!isCorner) return `L${to.x} ${to.y}`;
      const [before, after] = [nearby(to, from), nearby(to, next)];
      return `L${before.x} ${before.y}Q${to.x} ${to.y} ${after.x} ${after.y}`;
    })
    .join('');
}

/** The point on a straight line that is so far from its end as a corner is round. */
function nearby(end: Point, other: Point): Point {
  const along = (from: number, to: number): number =>
    from + Math.max(-CORNER, Math.min(CORNER, (to - from) / 2));
  return { x: along(end.x, other.x), y: along(end.y, other.y) };
}

const CORNER = 5;

interface LegendEntry {
  readonly text: string;
  /** Its sign, {@link SIGN} large. */
  readonly sign: (at: Point) => string;
}

const SIGN = { width: 26, height: 18 } as const;

const SHAPES = {
  step: 'step',
  workflow: 'other workflow',
  decision: 'choice or group',
  question: 'question',
  state: 'change of state',
  control: 'wait or jump',
  undoing: 'undoing',
  end: 'end',
} as const;

const ARROWS: { readonly [K in ChartArrow['kind']]: string } = {
  order: 'next',
  select: 'on a condition',
  undo: 'undone by',
  back: 'back',
};

const STATES: Readonly<Record<string, string>> = {
  running: 'running',
  ready: 'ready',
  waiting: 'waiting',
  succeeded: 'succeeded',
  failed: 'failed',
  handled: 'failed, and handled',
  skipped: 'skipped',
  cancelled: 'cancelled',
};

/** What the signs of charts mean: those that they have, but for what a reader sees without it. */
function legendOf(charts: readonly Chart[], states?: SvgOptions['states']): LegendEntry[] {
  const [shapes, arrows] = [new Set<string>(), new Set<string>()];
  const add = (group: ChartGroup): void => {
    for (const { kind } of group.arrows) arrows.add(kind);
    for (const box of group.boxes) {
      shapes.add(box.shape);
      box.groups.forEach(add);
    }
  };
  for (const { group } of charts) add(group);
  const statuses = new Set([...(states?.values() ?? [])].map(({ status }) => status));
  const outline = { width: SIGN.width - 4, height: SIGN.height - 4 };
  const shapeSign = (shape: string, { x, y }: Point): string =>
    `<g class="box k-${shape}">${printBody(shape, { x: x + 2, y: y + 2, ...outline }).join('')}</g>`;
  const stateSign = (status: string, { x, y }: Point): string =>
    `<g class="box s-${status}"><rect class="body" x="${x + 2}" y="${y + 2}" width="${outline.width}" height="${outline.height}" rx="3"/></g>`;
  const arrow = (kind: string, { x, y }: Point): string =>
    `<path class="arrow a-${kind}" d="M${x} ${y + 9}h17"/><path class="head a-${kind}" d="M${x + 17} ${y + 5}l8 4l-8 4z"/>`;
  return [
    ...Object.entries(SHAPES)
      .filter(([shape]) => shapes.has(shape))
      .map(([shape, text]) => ({ text, sign: (at: Point) => shapeSign(shape, at) })),
    ...Object.entries(ARROWS)
      .filter(([kind]) => arrows.has(kind) && arrows.size > 1)
      .map(([kind, text]) => ({ text, sign: (at: Point) => arrow(kind, at) })),
    ...Object.entries(STATES)
      .filter(([status]) => statuses.has(status))
      .map(([status, text]) => ({ text, sign: (at: Point) => stateSign(status, at) })),
  ];
}

/** A legend below an image, in as many rows as it needs. */
function placedLegend(
  entries: readonly LegendEntry[],
  room: number,
): Size & { readonly print: (at: Point) => string[] } {
  let [x, y, most] = [0, 0, 0];
  const places = entries.map(({ text }): Point => {
    const width = SIGN.width + 6 + textWidth(text, LINE_SIZE);
    if (x > 0 && x + width > room) [x, y] = [0, y + SIGN.height + 8];
    const place = { x, y };
    most = Math.max(most, x + width);
    x += width + 16;
    return place;
  });
  const print = (at: Point): string[] =>
    entries.map(({ text, sign }, index) => {
      const place = places[index] ?? { x: 0, y: 0 };
      const corner = { x: at.x + place.x, y: at.y + place.y };
      return `<g class="legend">${sign(corner)}<text x="${corner.x + SIGN.width + 6}" y="${corner.y + 13}">${escapeXml(text)}</text></g>`;
    });
  return { width: most, height: entries.length === 0 ? 0 : y + SIGN.height, print };
}

/** The legend of charts as HTML, for a page that has their style. */
export function printLegend(charts: readonly Chart[], states?: SvgOptions['states']): string {
  const entries = legendOf(charts, states).map(
    ({ text, sign }) =>
      `<li><svg class="chart" width="${SIGN.width}" height="${SIGN.height}" aria-hidden="true">${sign({ x: 0, y: 0 })}</svg>${escapeXml(text)}</li>`,
  );
  return `<ul class="legend" aria-label="Legend">${entries.join('')}</ul>`;
}

const LIGHT =
  '--paper:#fff;--ink:#1f2430;--soft:#535c6a;--edge:#c4cad4;--line:#8a93a2;--body:#f7f8fa;--group:#00000008;--blue:#2f6fde;--amber:#b7791f;--violet:#7c4ddb;--green:#2b8a57;--teal:#1c8a94;--red:#cf3f3f;--grey:#7a8494;--good:#dff5e8;--bad:#fde0de;--mild:#fff0c9;--busy:#dbe8fd;--eased:#ece3fc;--idle:#e9ebef';

/**
 * The style of charts, for light and for dark surroundings, and for paper. States differ by their outline as
 * well as by colour.
 */
export const CHART_STYLE = `
.chart{${LIGHT}}
@media (prefers-color-scheme:dark){.chart{--paper:#14171c;--ink:#eef1f6;--soft:#b3bbc8;--edge:#3b424e;--line:#7d8797;--body:#1d2128;--group:#ffffff0a;--blue:#6ea2ff;--amber:#e8b54f;--violet:#b094ff;--green:#5ed092;--teal:#58c3cd;--red:#ff8078;--grey:#98a2b1;--good:#0f4228;--bad:#5c1c1e;--mild:#4d3a06;--busy:#153a77;--eased:#3d2a70;--idle:#30363f}}
.chart text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--soft)}
.chart .title{font-size:13px;font-weight:600;fill:var(--ink)}
.chart .state{font-weight:600;fill:var(--ink)}
.chart .group-title{font-style:italic}
.chart .paper{fill:var(--paper)}
.chart .body{fill:var(--body);stroke:var(--edge)}
.chart .group{fill:var(--group);stroke:var(--edge);stroke-dasharray:4 3}
.chart .bar{fill:var(--blue)}
.chart .k-decision>.bar{fill:var(--amber)}
.chart .k-workflow>.bar{fill:var(--violet)}
.chart .k-question>.bar{fill:var(--green)}
.chart .k-state>.bar{fill:var(--teal)}
.chart .k-undoing>.bar{fill:var(--red)}
.chart .k-control>.bar,.chart .k-end>.bar{fill:var(--grey)}
.chart .s-succeeded>.body{fill:var(--good);stroke:var(--green)}
.chart .s-failed>.body{fill:var(--bad);stroke:var(--red);stroke-width:3}
.chart .s-handled>.body{fill:var(--eased);stroke:var(--violet);stroke-width:2;stroke-dasharray:8 3}
.chart .s-running>.body{fill:var(--busy);stroke:var(--blue);stroke-width:2}
.chart .s-ready>.body{stroke:var(--teal);stroke-dasharray:2 2}
.chart .s-waiting>.body{fill:var(--mild);stroke:var(--amber);stroke-width:2;stroke-dasharray:12 2}
.chart .s-skipped>.body{fill:var(--idle);stroke:var(--grey);stroke-dasharray:5 4}
.chart .s-cancelled>.body{fill:var(--idle);stroke:var(--ink);stroke-dasharray:1 3;stroke-width:2}
.chart .s-skipped>.title,.chart .s-cancelled>.title{fill:var(--soft)}
.chart .s-cancelled>.title{text-decoration:line-through}
.chart .around>.body{fill:var(--group)}
.chart .arrow{fill:none;stroke:var(--line);stroke-width:1.4}
.chart .arrow.a-select{stroke:var(--amber)}
.chart .arrow.a-back{stroke:var(--violet)}
.chart .arrow.a-undo{stroke:var(--red);stroke-dasharray:4 3}
.chart .head{fill:var(--line)}
.chart .head.a-select{fill:var(--amber)}
.chart .head.a-back{fill:var(--violet)}
.chart .head.a-undo{fill:var(--red)}
.chart .arrow-text{text-anchor:middle;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.legend{list-style:"";display:flex;flex-wrap:wrap;gap:4px 16px;margin:0;padding:0;font-size:12px}
.legend li{display:flex;align-items:center;gap:6px}
@media print{.chart{${LIGHT}}.chart *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

/** Widths of characters in em, as in DejaVu Sans, which is among the widest fonts that browsers choose. */
const WIDTHS: readonly (readonly [characters: RegExp, em: number])[] = [
  [/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/, 1.02],
  [/\p{Extended_Pictographic}/u, 1.4],
  [/[ijlI.,:;'|]/, 0.34],
  [/[ ftr()[\]{}\-/\\!`·]/, 0.43],
  [/[acekszvxyJ_"?*]/, 0.62],
  [/[@%mMW…\u{1f000}-\u{10ffff}]/u, 1.01],
  [/[\p{Lu}w+<>=~&#→≥≤≠×−]/u, 0.85],
];
const OTHER_WIDTH = 0.66;

/** The width that a text needs, in pixels. Fonts differ, so that it is rather too much. */
function textWidth(text: string, fontSize: number): number {
  let em = 0;
  for (const character of text) em += WIDTHS.find(([of]) => of.test(character))?.[1] ?? OTHER_WIDTH;
  return Math.ceil(em * fontSize);
}

/** The places where a line may end, and those within a word that is too long for one. */
const WORDS = /(?<=[\s,|])|(?=\$\{)/u;
const PARTS = /(?<=[/_:-])|(?=\.)|(?<=\p{Ll})(?=\p{Lu})/u;

/** Breaks a text into at most `maxLines` lines of a width, between words where it can. The last line ends with `…` if some is missing. */
function wrapText(text: string, fontSize: number, width: number, maxLines: number): string[] {
  const fits = (line: string): boolean => textWidth(line, fontSize) <= width;
  const words = text.split(WORDS).flatMap((word) => (fits(word.trimEnd()) ? [word] : word.split(PARTS)));
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (fits((line + word).trimEnd())) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line.trimEnd());
    line = word;
    while (!fits(line.trimEnd()) && lines.length <= maxLines) {
      const length = fittingLength(line, fits);
      lines.push(line.slice(0, length));
      line = line.slice(length);
    }
    if (lines.length > maxLines) break;
  }
  lines.push(line.trimEnd());
  const [last = ''] = lines.slice(maxLines - 1);
  if (lines.length <= maxLines) return lines;
  const length = fits(`${last}…`) ? last.length : fittingLength(last, (part) => fits(`${part}…`));
  return [...lines.slice(0, maxLines - 1), `${last.slice(0, length).trimEnd()}…`];
}

/** The length of the longest beginning of a text that fits, at least one character. */
function fittingLength(text: string, fits: (part: string) => boolean): number {
  let length = 0;
  for (const character of text) {
    if (length > 0 && !fits(text.slice(0, length + character.length))) break;
    length += character.length;
  }
  return length;
}
