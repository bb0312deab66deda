import type { Row } from './row.js';

/** How a row changed since the committed results. */
interface Change {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly isWorse: boolean;
}

export interface Comparison {
  readonly changes: readonly Change[];
  /** Rows without committed results. */
  readonly unmatched: readonly string[];
}

/** Ratios of two runs of the same code differ by up to this factor on a busy machine. */
const NOISE = 1.25;

/**
 * Compares the ratio of each row, or the figure of a row without a peer. Committed rows that were not measured are left
 * out.
 */
export function compare(committed: readonly Row[], rows: readonly Row[]): Comparison {
  const before = new Map(committed.map((row) => [keyOf(row), row]));
  const changes = rows.flatMap((row): Change[] => {
    const known = before.get(keyOf(row));
    return known === undefined ? [] : [changeOf(known, row)];
  });
  const unmatched = rows.map(keyOf).filter((key) => !before.has(key));
  return { changes, unmatched };
}

function changeOf(known: Row, row: Row): Change {
  const [before, after] = [comparedValue(known), comparedValue(row)];
  return { name: keyOf(row), before, after, isWorse: after > before * NOISE };
}

/** The lines of a comparison: the rows that became worse first. */
export function comparisonText({ changes, unmatched }: Comparison): string {
  const sorted = [...changes].sort((one, other) => factorOf(other) - factorOf(one));
  const lines = sorted.map((change) => {
    const { name, before, after, isWorse } = change;
    return `${isWorse ? 'WORSE ' : '      '}${factorOf(change).toFixed(2)}×  ${figure(before)} → ${figure(after)}  ${name}`;
  });
  return [...lines, ...unmatched.map((name) => `NEW    ${name}`)].join('\n');
}

const factorOf = ({ before, after }: Change): number => after / before;
const comparedValue = ({ ratio, ours }: Row): number => ratio ?? ours;
const figure = (value: number): string => value.toPrecision(3);

/** The key of a row. A row may be compared with several peers, and one name may have several units. */
function keyOf({ name, unit, peer }: Row): string {
  return peer === undefined ? `${name} (${unit})` : `${name} / ${peer.name}`;
}
