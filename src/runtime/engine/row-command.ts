import type { OwedCommand } from './events.js';
import type { Row } from './rows.js';

/** The due time of the command in a row; undefined without a command or a time limit. */
export function dueTimeOf(row: Row): { readonly command: string; readonly dueAt: number } | undefined {
  if (row.table !== 'nodes' && row.table !== 'effects') return undefined;
  const { id, dueAt } = row.row.command ?? {};
  return id === undefined || dueAt === undefined ? undefined : { command: id, dueAt };
}

/** The kind of the command in a row; undefined without a command. */
export function owedKind(row: Row): OwedCommand['kind'] | undefined {
  if (row.table === 'effects') return row.row.command === undefined ? undefined : 'callTool';
  return row.table === 'nodes' ? row.row.command?.kind : undefined;
}
