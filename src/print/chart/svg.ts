import { escapeXml, inlineText } from '../../graph/printable-text.js';
import type { Chart, ChartArrow, ChartBox, ChartGroup } from './chart.js';
import { type ArrowPath, type Layout, layoutOf, type Point, type Size } from './layout.js';

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
  /** Whether it is a part of a page, which has the style sheet and handles its boxes. Default: false. */
  readonly isPart?: boolean;
  /** The address that a box of a part leads to, by its key. Default: the script of the page handles boxes. */
  readonly linkOf?: (key: string) => string;
  /** Makes the ids of the chart unique in a page. Default: empty. */
  readonly idPrefix?: string;
}

/** A chart as a self-contained SVG image. The same chart gives the same bytes. */
export function printSvg(
  chart: Chart,
  { states = new Map(), isPart = false, idPrefix = '', linkOf }: SvgOptions = {},
): string {
  const sized = sizeGroup(chart.group, states);
  const width = sized.width + 2 * MARGIN;
  const height = sized.height + 2 * MARGIN;
  const printing: Printing = { states, isPart, linkOf, marker: `${idPrefix}arrow` };
  const body = printGroup(sized, { x: MARGIN, y: MARGIN }, printing);
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
  return [root, ...title, ...style, heads, ...paper, '<g class="view">', ...body, '</g>', '</svg>', ''].join(
    '\n',
  );
}

const ARROW_KINDS: readonly ChartArrow['kind'][] = ['order', 'select', 'undo', 'back'];

const MARGIN = 24;
const PADDING = 12;
const TITLE_HEIGHT = 18;
const LINE_HEIGHT = 16;
const GROUP_GAP = 16;
const LEAST_WIDTH = 112;
/** The most pixels of a line of text. */
const MAX_WIDTH = 320;
const MAX_LABEL_WIDTH = 200;
const MAX_TITLE_LINES = 3;
/** The most lines for one fact of a box, and for all. The whole text is among the details. */
const MAX_FACT_LINES = 3;
const MAX_LINES = 9;
/** Font sizes in pixels. Bold text is wider than its size says. */
const TITLE_SIZE = 13 * 1.12;
const LINE_SIZE = 12;
const STATE_SIZE = 12 * 1.12;
const LABEL_SIZE = 11;

interface SizedBox extends Size {
  readonly box: ChartBox;
  readonly title: readonly string[];
  readonly lines: readonly string[];
  readonly stateLines: readonly string[];
  /** Of its texts, without what is inside. */
  readonly headHeight: number;
  readonly groups: readonly SizedGroup[];
}

interface SizedGroup extends Size {
  readonly group: ChartGroup;
  /** The lines of its title; none for a group without a frame. */
  readonly title: readonly string[];
  readonly boxes: readonly SizedBox[];
  readonly labels: readonly (readonly string[])[];
  readonly layout: Layout;
}

type States = ReadonlyMap<string, BoxState>;

function sizeGroup(group: ChartGroup, states: States): SizedGroup {
  const boxes = group.boxes.map((box) => sizeBox(box, states));
  const labels = group.arrows.map(({ text }) =>
    text === undefined ? [] : wrapText(inlineText(text), LABEL_SIZE, MAX_LABEL_WIDTH, MAX_FACT_LINES),
  );
  const arrows = group.arrows.map(({ from, to, kind }, index) => {
    const lines = labels[index] ?? [];
    const label = { width: widest(lines, LABEL_SIZE) + 8, height: lines.length * LINE_HEIGHT };
    return { from, to, isBack: kind === 'back', ...(lines.length > 0 && { label }) };
  });
  const layout = layoutOf({ boxes, arrows });
  const { title: text } = group;
  const titleWidth = Math.max(layout.width, MAX_WIDTH);
  const title = text === undefined ? [] : wrapText(inlineText(text), LINE_SIZE, titleWidth, MAX_TITLE_LINES);
  const frame = title.length === 0 ? 0 : 2 * PADDING;
  const width = Math.max(layout.width, widest(title, LINE_SIZE)) + frame;
  const height = layout.height + frame + title.length * LINE_HEIGHT;
  return { group, title, boxes, labels, layout, width, height };
}

function sizeBox(box: ChartBox, states: States): SizedBox {
  const state = states.get(box.key);
  const facts = box.lines.flatMap((line) => wrapText(inlineText(line), LINE_SIZE, MAX_WIDTH, MAX_FACT_LINES));
  const lines = facts.length > MAX_LINES ? [...facts.slice(0, MAX_LINES - 1), '…'] : facts;
  const stateLines =
    state === undefined ? [] : wrapText(inlineText(state.text), STATE_SIZE, MAX_WIDTH, MAX_FACT_LINES);
  const title = wrapText(inlineText(box.title), TITLE_SIZE, MAX_WIDTH, MAX_TITLE_LINES);
  const groups = box.groups
    .map((group) => sizeGroup(group, states))
    .filter((group) => group.boxes.length > 0 || group.title.length > 0);
  const headHeight = title.length * TITLE_HEIGHT + (lines.length + stateLines.length) * LINE_HEIGHT;
  const textsWidth = Math.max(
    widest(title, TITLE_SIZE),
    widest(lines, LINE_SIZE),
    widest(stateLines, STATE_SIZE),
  );
  const innerHeight = groups.reduce((most, { height }) => Math.max(most, height), 0);
  return {
    ...{ box, title, lines, stateLines, headHeight, groups },
    width: Math.max(LEAST_WIDTH, textsWidth + 4, sumOfWidths(groups)) + 2 * PADDING,
    height: headHeight + 2 * PADDING + (groups.length === 0 ? 0 : innerHeight + PADDING),
  };
}

function sumOfWidths(groups: readonly SizedGroup[]): number {
  return groups.reduce((sum, { width }) => sum + width, Math.max(0, groups.length - 1) * GROUP_GAP);
}

function widest(lines: readonly string[], fontSize: number): number {
  return lines.reduce((most, line) => Math.max(most, textWidth(line, fontSize)), 0);
}

interface Printing {
  readonly states: States;
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
  const { box, title, lines, stateLines, width, height, headHeight, groups } = sized;
  const state = printing.states.get(box.key);
  const states = state === undefined ? '' : ` s-${stateClass(state.status)}`;
  const { isPart, linkOf } = printing;
  const handled = isPart && linkOf === undefined ? ' tabindex="0" role="button"' : '';
  const text = `${title.join(' ')}: ${[...lines, ...stateLines].join(' ')}`;
  const label = isPart ? ` aria-label="${escapeXml(text)}"` : '';
  const link = linkOf && `<a href="${escapeXml(linkOf(box.key))}"${label}>`;
  let x = at.x + Math.round((width - sumOfWidths(groups)) / 2);
  const content = groups.flatMap((group) => {
    const printed = printGroup(group, { x, y: at.y + PADDING + headHeight + PADDING }, printing);
    x += group.width + GROUP_GAP;
    return printed;
  });
  const textX = at.x + PADDING + 4;
  const isRound = ROUND.has(box.shape);
  const bar = isRound ? PADDING : PADDING / 2;
  const titleY = at.y + PADDING + 12;
  const linesY = titleY + title.length * TITLE_HEIGHT;
  const stateY = linesY + lines.length * LINE_HEIGHT;
  return [
    ...(link === undefined ? [] : [link]),
    `<g class="box k-${box.shape}${states}${groups.length > 0 ? ' around' : ''}" data-key="${escapeXml(box.key)}"${handled}${link === undefined ? label : ''}>`,
    `<rect class="body" x="${at.x}" y="${at.y}" width="${width}" height="${height}" rx="${isRound ? 14 : 6}"/>`,
    `<rect class="bar" x="${at.x + (isRound ? 6 : 0)}" y="${at.y + bar}" width="4" height="${Math.max(8, height - 2 * bar)}" rx="2"/>`,
    ...printLines(title, 'title', TITLE_HEIGHT, { x: textX, y: titleY }),
    ...printLines(lines, 'line', LINE_HEIGHT, { x: textX, y: linesY }),
    ...printLines(stateLines, 'state', LINE_HEIGHT, { x: textX, y: stateY }),
    link === undefined ? '</g>' : '</g></a>',
    ...content,
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

/** A path that is vertical at each of its points, but for straight lines across. */
function curve(points: readonly Point[]): string {
  return points
    .map((to, index) => {
      const from = points[index - 1];
      if (from === undefined) return `M${to.x} ${to.y}`;
      if (from.x === to.x || from.y === to.y) return `L${to.x} ${to.y}`;
      const middle = Math.round((from.y + to.y) / 2);
      return `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
    })
    .join('');
}

const LIGHT =
  '--paper:#fff;--ink:#1f2430;--soft:#5b6472;--edge:#c4cad4;--line:#8a93a2;--body:#f7f8fa;--group:#00000008;--blue:#2f6fde;--amber:#b7791f;--violet:#7c4ddb;--green:#2b8a57;--teal:#1c8a94;--red:#cf3f3f;--grey:#7a8494;--good:#e3f5ea;--bad:#fde7e6;--mild:#fff3d9;--busy:#e4eefd;--idle:#eef0f3';

/** The style of charts, for light and for dark surroundings, and for paper. */
export const CHART_STYLE = `
.chart{${LIGHT}}
@media (prefers-color-scheme:dark){.chart{--paper:#14171c;--ink:#e6e9ef;--soft:#a2abb9;--edge:#3b424e;--line:#7d8797;--body:#1d2128;--group:#ffffff0a;--blue:#6ea2ff;--amber:#e0ae55;--violet:#b094ff;--green:#62c48f;--teal:#58c3cd;--red:#ff8078;--grey:#98a2b1;--good:#173526;--bad:#42201f;--mild:#3d3115;--busy:#1b2f52;--idle:#252a32}}
.chart text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--soft)}
.chart .title{font-size:13px;font-weight:600;fill:var(--ink)}
.chart .state{font-weight:600;fill:var(--ink)}
.chart .group-title{font-style:italic}
.chart .paper{fill:var(--paper)}
.chart .body{fill:var(--body);stroke:var(--edge)}
.chart .around>.body{fill:var(--group)}
.chart .group{fill:var(--group);stroke:var(--edge);stroke-dasharray:4 3}
.chart .bar{fill:var(--blue)}
.chart .k-decision>.bar{fill:var(--amber)}
.chart .k-workflow>.bar{fill:var(--violet)}
.chart .k-question>.bar{fill:var(--green)}
.chart .k-state>.bar{fill:var(--teal)}
.chart .k-undoing>.bar{fill:var(--red)}
.chart .k-control>.bar,.chart .k-end>.bar{fill:var(--grey)}
.chart .s-succeeded>.body{fill:var(--good);stroke:var(--green)}
.chart .s-failed>.body{fill:var(--bad);stroke:var(--red)}
.chart .s-handled>.body{fill:var(--mild);stroke:var(--amber)}
.chart .s-running>.body,.chart .s-ready>.body{fill:var(--busy);stroke:var(--blue)}
.chart .s-waiting>.body{fill:var(--mild);stroke:var(--amber);stroke-width:2}
.chart .s-skipped>.body,.chart .s-cancelled>.body,.chart .s-pending>.body{fill:var(--idle);stroke-dasharray:5 4}
.chart .arrow{fill:none;stroke:var(--line);stroke-width:1.4}
.chart .arrow.a-select{stroke:var(--amber)}
.chart .arrow.a-back{stroke:var(--violet)}
.chart .arrow.a-undo{stroke:var(--red);stroke-dasharray:4 3}
.chart .head{fill:var(--line)}
.chart .head.a-select{fill:var(--amber)}
.chart .head.a-back{fill:var(--violet)}
.chart .head.a-undo{fill:var(--red)}
.chart .arrow-text{font-size:11px;text-anchor:middle;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
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

/** Breaks a text into at most `maxLines` lines of a width, between words where it can. The last line ends with `…` if some is missing. */
function wrapText(text: string, fontSize: number, width: number, maxLines: number): string[] {
  const fits = (line: string): boolean => textWidth(line, fontSize) <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=[\s,/|])|(?=\.|\$\{)/u)) {
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
