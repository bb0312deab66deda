/** One line of the benchmark. */
export interface Row {
  readonly name: string;
  readonly unit: 'µs' | 'kB' | 'B' | 'rows';
  readonly ours: number;
  /** The figure of the peer, measured in the same run. Absent if a figure has only a target. */
  readonly peer?: { readonly name: string; readonly value: number };
  /** The figure of stepwright divided by that of the peer; absent without a peer. */
  readonly ratio?: number;
  /** Absent if the row is only for information. */
  readonly target?: Target;
  /** Absent without a target. */
  readonly ok?: boolean;
}

interface Target {
  readonly of: 'ours' | 'ratio';
  readonly atMost: number;
}

/** The limit of a ratio that should be 1. */
export const THE_SAME = 1.1;

/** The limit of such a ratio if more memory is used, since caches have a fixed size. */
export const ABOUT_THE_SAME = 1.5;

/** Makes a row with its ratio, and whether the target is met. */
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

/** A number with three significant digits. */
function figure(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value.toPrecision(3);
}
