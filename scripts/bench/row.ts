/** One line of the benchmark. */
export interface Row {
  readonly name: string;
  readonly unit: 'µs' | 'kB';
  readonly ours: number;
  /** What ours is held against, measured in the same run. */
  readonly peer: { readonly name: string; readonly value: number };
  readonly ratio: number;
  /** Missing where a row only informs. */
  readonly target?: Target;
  /** Missing without a target. */
  readonly ok?: boolean;
}

export interface Target {
  readonly of: 'ours' | 'ratio';
  readonly atMost: number;
}

/** What a ratio may be that should be 1: a median of few rounds on a machine that others use is no better. */
export const ABOUT_THE_SAME = 1.5;

/** Puts a row together: its ratio, and whether the target is met. */
export function row(figures: Omit<Row, 'ratio' | 'ok'>): Row {
  const ratio = figures.ours / figures.peer.value;
  const { target } = figures;
  if (target === undefined) return { ...figures, ratio };
  return { ...figures, ratio, ok: (target.of === 'ours' ? figures.ours : ratio) <= target.atMost };
}

/** The rows in columns, for a terminal. */
export function table(rows: readonly Row[]): string {
  const head = ['', 'ours', 'peer', '', 'ratio', 'target', ''];
  const lines = [head, ...rows.map(cells)];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const isNumber = (column: number) => column === 1 || column === 2 || column === 4;
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells({ name, unit, ours, peer, ratio, target, ok }: Row): string[] {
  const verdict = ok === undefined ? '' : ok ? 'ok' : 'MISSED';
  return [
    name,
    `${figure(ours)} ${unit}`,
    `${figure(peer.value)} ${unit}`,
    peer.name,
    `${figure(ratio)}×`,
    target === undefined ? '' : `≤ ${target.atMost}${target.of === 'ours' ? ` ${unit}` : '×'}`,
    verdict,
  ];
}

/** Three digits that count. */
function figure(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value.toPrecision(3);
}
