/** One line of the benchmark. */
export interface Row {
  readonly name: string;
  readonly unit: 'µs' | 'kB' | 'B' | 'rows';
  readonly ours: number;
  /** What ours is held against, measured in the same run. Missing where a figure is held against its target alone. */
  readonly peer?: { readonly name: string; readonly value: number };
  /** Ours for each unit of the peer's; missing without a peer. */
  readonly ratio?: number;
  /** Missing where a row only informs. */
  readonly target?: Target;
  /** Missing without a target. */
  readonly ok?: boolean;
}

interface Target {
  readonly of: 'ours' | 'ratio';
  readonly atMost: number;
}

/** What a ratio may be that should be 1. */
export const THE_SAME = 1.1;

/** What it may be where more memory is used: caches are of one size. */
export const ABOUT_THE_SAME = 1.5;

/** Puts a row together: its ratio, and whether the target is met. */
export function row(figures: Omit<Row, 'ratio' | 'ok'>): Row {
  const { ours, peer, target } = figures;
  const ratio = peer === undefined ? undefined : ours / peer.value;
  const held = target?.of === 'ratio' ? (ratio ?? Number.NaN) : ours;
  return {
    ...figures,
    ...(ratio === undefined ? {} : { ratio }),
    ...(target === undefined ? {} : { ok: held <= target.atMost }),
  };
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

/** The rows as a table of docs/benchmarks.md. */
export function markdown(rows: readonly Row[]): string {
  const lines = rows.map(cells).map(([name, ours, peer, peerName, ratio, target, verdict]) => {
    const reached = verdict === 'MISSED' ? '**missed**' : verdict === 'ok' ? 'met' : '';
    const outcome = [target, reached].filter((text) => text !== '').join(', ');
    return `| ${name} | ${ours} | ${[peer, peerName].join(' ').trim()} | ${ratio} | ${outcome} |`;
  });
  return ['| row | ours | peer | ratio | target |', '|---|--:|---|--:|---|', ...lines].join('\n');
}

function cells({ name, unit, ours, peer, ratio, target, ok }: Row): string[] {
  const verdict = ok === undefined ? '' : ok ? 'ok' : 'MISSED';
  return [
    name,
    `${figure(ours)} ${unit}`,
    peer === undefined ? '' : `${figure(peer.value)} ${unit}`,
    peer?.name ?? '',
    ratio === undefined ? '' : `${figure(ratio)}×`,
    target === undefined ? '' : `≤ ${target.atMost}${target.of === 'ours' ? ` ${unit}` : '×'}`,
    verdict,
  ];
}

/** Three digits that count. */
function figure(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value.toPrecision(3);
}
