import { escapeUnprintable, inlineText } from '../../graph/printable-text.js';
import type { Chart, ChartArrow, ChartBox, ChartGroup } from './chart.js';
import { type Layout, layeredLayout, type Point } from './layered-layout.js';

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
  /** Makes the ids of the chart unique in a page. Default: empty. */
  readonly idPrefix?: string;
}

/** A chart as a self-contained SVG image. The same chart gives the same bytes. */
export function printSvg(
  chart: Chart,
  { states = new Map(), isPart = false, idPrefix = '' }: SvgOptions = {},
): string {
  const sized = sizeGroup(chart.group, states);
  const width = sized.width + 2 * MARGIN;
  const height = sized.height + 2 * MARGIN;
  const printing: Printing = { states, isPart, marker: `${idPrefix}arrow` };
  const body = printGroup(sized, { x: MARGIN, y: MARGIN }, printing);
  const root = isPart
    ? `<svg class="chart" viewBox="0 0 ${width} ${height}" aria-label="${escapeXml(chart.name)}">`
    : `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(chart.name)}">`;
  const title = isPart ? [] : [`<title>${escapeXml(`${chart.name}: ${chart.description}`)}</title>`];
  const style = isPart ? [] : [`<style>${CHART_STYLE}</style>`];
  const marker = `<defs><marker id="${printing.marker}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>`;
  const paper = isPart ? [] : [`<rect class="paper" width="${width}" height="${height}"/>`];
  return [root, ...title, ...style, marker, ...paper, '<g class="view">', ...body, '</g>', '</svg>', ''].join(
    '\n',
  );
}

const MARGIN = 24;
const PADDING = 12;
const TITLE_HEIGHT = 18;
const LINE_HEIGHT = 16;
const GROUP_GAP = 16;
const LEAST_WIDTH = 112;

/** The most characters of a line. The whole text is among the details. */
const MAX_LENGTH = 46;

/** The most lines of a box below its title. */
const MAX_LINES = 5;

/** The estimated width of a character, in pixels: fonts differ. */
const TITLE_CHARACTER = 7.6;
const LINE_CHARACTER = 6.9;

interface SizedBox {
  readonly box: ChartBox;
  readonly title: string;
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
  /** Of its texts, without what is inside. */
  readonly headHeight: number;
  readonly groups: readonly SizedGroup[];
}

interface SizedGroup {
  readonly group: ChartGroup;
  readonly title: string | undefined;
  readonly boxes: readonly SizedBox[];
  readonly layout: Layout;
  readonly width: number;
  readonly height: number;
}

type States = ReadonlyMap<string, BoxState>;

function sizeGroup(group: ChartGroup, states: States): SizedGroup {
  const boxes = group.boxes.map((box) => sizeBox(box, states));
  const arrows = group.arrows.map(({ from, to, kind }) => ({ from, to, isBack: kind === 'back' }));
  const layout = layeredLayout({ boxes, arrows });
  const title = group.title === undefined ? undefined : cut(inlineText(group.title));
  const frame = title === undefined ? 0 : 2 * PADDING;
  const head = title === undefined ? 0 : TITLE_HEIGHT;
  const titleWidth = title === undefined ? 0 : textWidth(title, LINE_CHARACTER);
  const width = Math.max(layout.width, titleWidth) + frame;
  return { group, title, boxes, layout, width, height: layout.height + frame + head };
}

function sizeBox(box: ChartBox, states: States): SizedBox {
  const state = states.get(box.key);
  const texts = box.lines.map((line) => cut(inlineText(line)));
  const shown = texts.length > MAX_LINES ? [...texts.slice(0, MAX_LINES - 1), '…'] : texts;
  const lines = [...shown, ...(state === undefined ? [] : [cut(inlineText(state.text))])];
  const title = cut(inlineText(box.title));
  const groups = box.groups
    .map((group) => sizeGroup(group, states))
    .filter(({ boxes, title: named }) => boxes.length > 0 || named !== undefined);
  const headHeight = TITLE_HEIGHT + lines.length * LINE_HEIGHT;
  const textsWidth = Math.max(
    textWidth(title, TITLE_CHARACTER),
    ...lines.map((line) => textWidth(line, LINE_CHARACTER)),
  );
  const innerWidth =
    groups.reduce((sum, { width }) => sum + width, 0) + Math.max(0, groups.length - 1) * GROUP_GAP;
  const innerHeight = groups.reduce((most, { height }) => Math.max(most, height), 0);
  return {
    ...{ box, title, lines, headHeight, groups },
    width: Math.max(LEAST_WIDTH, textsWidth, innerWidth) + 2 * PADDING,
    height: headHeight + 2 * PADDING + (groups.length === 0 ? 0 : innerHeight + PADDING),
  };
}

/** Wide characters, such as ideographs and emoji, count twice. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

function textWidth(text: string, character: number): number {
  const units = [...text].reduce((sum, each) => sum + (WIDE.test(each) ? 2 : 1), 0);
  return Math.ceil(units * character);
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH - 1).join('')}…` : text;
}

interface Printing {
  readonly states: States;
  readonly isPart: boolean;
  /** The id of the head of arrows. */
  readonly marker: string;
}

function printGroup(
  { group, title, boxes, layout, width, height }: SizedGroup,
  at: Point,
  printing: Printing,
): string[] {
  const isFramed = title !== undefined;
  const origin = isFramed
    ? {
        x: at.x + PADDING + Math.round((width - 2 * PADDING - layout.width) / 2),
        y: at.y + PADDING + TITLE_HEIGHT,
      }
    : { x: at.x + Math.round((width - layout.width) / 2), y: at.y };
  const frame = isFramed
    ? [
        `<rect class="group" x="${at.x}" y="${at.y}" width="${width}" height="${height}" rx="6"/>`,
        `<text class="group-title" x="${at.x + PADDING}" y="${at.y + PADDING + 6}">${escapeXml(title)}</text>`,
      ]
    : [];
  return [
    ...frame,
    ...group.arrows.map((arrow, index) => printArrow(arrow, layout.arrows[index] ?? [], origin, printing)),
    ...boxes.flatMap((box, index) => {
      const corner = layout.boxes[index] ?? { x: 0, y: 0 };
      return printBox(box, { x: origin.x + corner.x, y: origin.y + corner.y }, printing);
    }),
  ];
}

function printBox(sized: SizedBox, at: Point, printing: Printing): string[] {
  const { box, title, lines, width, height, headHeight, groups } = sized;
  const state = printing.states.get(box.key);
  const states = state === undefined ? '' : ` s-${stateClass(state.status)}`;
  const handled = printing.isPart ? ' tabindex="0" role="button"' : '';
  const label = printing.isPart ? ` aria-label="${escapeXml(`${title}: ${lines.join(', ')}`)}"` : '';
  const inner =
    groups.reduce((sum, group) => sum + group.width, 0) + Math.max(0, groups.length - 1) * GROUP_GAP;
  let x = at.x + Math.round((width - inner) / 2);
  const content = groups.flatMap((group) => {
    const printed = printGroup(group, { x, y: at.y + PADDING + headHeight + PADDING }, printing);
    x += group.width + GROUP_GAP;
    return printed;
  });
  const text = at.x + PADDING + 4;
  const isRound = ROUND.has(box.shape);
  const bar = isRound ? PADDING : PADDING / 2;
  return [
    `<g class="box k-${box.shape}${states}${groups.length > 0 ? ' around' : ''}" data-key="${escapeXml(box.key)}"${handled}${label}>`,
    `<rect class="body" x="${at.x}" y="${at.y}" width="${width}" height="${height}" rx="${isRound ? 14 : 6}"/>`,
    `<rect class="bar" x="${at.x + (isRound ? 6 : 0)}" y="${at.y + bar}" width="4" height="${Math.max(8, height - 2 * bar)}" rx="2"/>`,
    `<text class="title" x="${text}" y="${at.y + PADDING + 12}">${escapeXml(title)}</text>`,
    ...lines.map(
      (line, index) =>
        `<text class="${state !== undefined && index === lines.length - 1 ? 'state' : 'line'}" x="${text}" y="${at.y + PADDING + 12 + TITLE_HEIGHT + index * LINE_HEIGHT}">${escapeXml(line)}</text>`,
    ),
    '</g>',
    ...content,
  ];
}

const ROUND: ReadonlySet<string> = new Set(['end', 'question']);

function stateClass(status: string): string {
  return /^[a-z]+$/.test(status) ? status : 'other';
}

function printArrow(
  { kind, text }: ChartArrow,
  points: readonly Point[],
  origin: Point,
  { marker }: Printing,
): string {
  const moved = points.map(({ x, y }) => ({ x: x + origin.x, y: y + origin.y }));
  const path = `<path class="arrow a-${kind}" d="${kind === 'back' ? angular(moved) : curved(moved)}" marker-end="url(#${marker})"/>`;
  const [first, second] = moved;
  if (text === undefined || first === undefined || second === undefined) return path;
  const x = Math.round((first.x + second.x) / 2) + (kind === 'back' ? 4 : 0);
  const y = kind === 'back' ? first.y - 4 : Math.round((first.y + second.y) / 2);
  return `${path}<text class="arrow-text" x="${x}" y="${y}">${escapeXml(cut(inlineText(text)))}</text>`;
}

function curved(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let from = first;
  const parts = rest.map((to) => {
    const middle = Math.round((from.y + to.y) / 2);
    const part =
      from.x === to.x ? `L${to.x} ${to.y}` : `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
    from = to;
    return part;
  });
  return `M${first.x} ${first.y}${parts.join('')}`;
}

function angular(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text within an element or an attribute of XML or HTML. What does not show, or is not XML, is escaped as in JSON. */
export function escapeXml(text: string): string {
  return escapeUnprintable(text)
    .replaceAll(/[\ufffe\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`)
    .replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

/** The style of charts, for light and for dark surroundings. */
export const CHART_STYLE = `
.chart{--paper:#fff;--ink:#1f2430;--soft:#5b6472;--edge:#c4cad4;--line:#8a93a2;--body:#f7f8fa;--group:#00000008;--blue:#2f6fde;--amber:#b7791f;--violet:#7c4ddb;--green:#2b8a57;--teal:#1c8a94;--red:#cf3f3f;--grey:#7a8494;--good:#e3f5ea;--bad:#fde7e6;--mild:#fff3d9;--busy:#e4eefd;--none:#eef0f3}
@media (prefers-color-scheme:dark){.chart{--paper:#14171c;--ink:#e6e9ef;--soft:#a2abb9;--edge:#3b424e;--line:#7d8797;--body:#1d2128;--group:#ffffff0a;--blue:#6ea2ff;--amber:#e0ae55;--violet:#b094ff;--green:#62c48f;--teal:#58c3cd;--red:#ff8078;--grey:#98a2b1;--good:#173526;--bad:#42201f;--mild:#3d3115;--busy:#1b2f52;--none:#252a32}}
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
.chart .s-running>.body,.chart .s-waiting>.body,.chart .s-ready>.body{fill:var(--busy);stroke:var(--blue)}
.chart .s-skipped>.body,.chart .s-cancelled>.body,.chart .s-pending>.body{fill:var(--none);stroke-dasharray:5 4}
.chart .arrow{fill:none;stroke:var(--line);stroke-width:1.4}
.chart .a-select{stroke:var(--amber)}
.chart .a-back{stroke:var(--violet)}
.chart .a-undo{stroke:var(--red);stroke-dasharray:4 3}
.chart .head{fill:var(--line)}
.chart .arrow-text{font-size:11px;text-anchor:middle;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.chart .a-back+.arrow-text{text-anchor:start}
`;
