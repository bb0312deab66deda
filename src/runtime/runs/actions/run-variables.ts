import { defined } from '../../../graph/defined.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import { jsonSize } from '../../tools/to-json.js';
import type { HostRow } from '../store/journal.js';

/** What the keys of the server begin with: no other program may set one. */
export const WORKFLOW_PREFIX = '_workflow.';

/** What the keys of calls begin with that fit no step: the name of the tool follows. */
export const WORKFLOW_EXTRA_PREFIX = '_workflow.extra.';

/** The key of the result of a call that fits no step. */
export function workflowExtraKey(tool: string): string {
  return `${WORKFLOW_EXTRA_PREFIX}${tool}`;
}

/** Whether a key is one of the server. */
export function isReservedKey(key: string): boolean {
  return key.startsWith(WORKFLOW_PREFIX);
}

/** Why a program cannot change variables so. @param values those that the run has. */
export function changeFailure(values: JsonObject, changes: JsonObject): Failure | undefined {
  const reserved = Object.keys(changes).find(isReservedKey);
  if (reserved === undefined) return variablesFailure(values, changes);
  return refused(
    `'${clip(reserved)}' is one of the server: use a name that does not begin with \`${WORKFLOW_PREFIX}\``,
  );
}

/** What the variables of a run may be: all of them in bytes of JSON, each in levels of nesting, each text in bytes. */
const LIMITS = { bytes: 1_048_576, levels: 10, textBytes: 65_536 };

/** Why variables cannot be written. @param values those that the run has. */
export function variablesFailure(values: JsonObject, changes: JsonObject): Failure | undefined {
  for (const [key, value] of Object.entries(changes)) {
    const problem = problemOf(value, LIMITS.levels);
    if (problem !== undefined) return refused(`variable '${clip(key)}' ${problem}`);
  }
  const size = jsonSize({ ...values, ...changes }, LIMITS.bytes);
  if (size <= LIMITS.bytes) return undefined;
  return refused(`the variables have at least ${size} bytes of JSON, and ${LIMITS.bytes} are allowed`);
}

function refused(problem: string): Failure {
  return { code: 'E_TASK_VARIABLES', message: `Nothing was changed: ${problem}.` };
}

/** Completes "variable 'x' …". */
function problemOf(value: Json, levels: number): string | undefined {
  if (typeof value === 'string') {
    const size = Buffer.byteLength(value);
    if (size <= LIMITS.textBytes) return undefined;
    return `has a text of ${size} bytes, and ${LIMITS.textBytes} are allowed`;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `is nested more than ${LIMITS.levels} levels`;
  for (const member of Object.values(value)) {
    const problem = problemOf(member, levels - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The table of a run's rows that has its variables, by their names. */
const TABLE = 'variables' as const;

/** A variable. Plain JSON; the value is missing for one that was deleted. */
interface VariableRow {
  readonly value?: Json;
  /** The number of the change that wrote it, from 1. */
  readonly version: number;
}

/**
 * The variables that programs set for a run, and the results of calls that fit no step. They are written with the
 * transition that follows their change, so that they survive a restart.
 */
export class RunVariables {
  readonly #rows = new Map<string, VariableRow>();
  #changed: Set<string> | undefined;
  /** How often variables were changed. */
  version = 0;

  /** All of them, in the order in which they were first set. */
  get values(): JsonObject {
    return Object.fromEntries(
      [...this.#rows].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const])),
    );
  }

  /** Changes variables, all of them at once. `null` deletes one. */
  set(changes: JsonObject): void {
    this.version += 1;
    this.#changed ??= new Set();
    for (const [key, value] of Object.entries(changes)) {
      this.#rows.set(key, { ...defined({ value: value ?? undefined }), version: this.version });
      this.#changed.add(key);
    }
  }

  /** The rows that were changed since it was asked last. */
  takeRows(): HostRow[] {
    if (this.#changed === undefined) return [];
    const rows = [...this.#changed].map((key) => ({
      ...{ table: TABLE, key },
      row: this.#rows.get(key) as unknown as Json,
    }));
    this.#changed = undefined;
    return rows;
  }

  /** Continues from what was written. */
  reload(rows: readonly HostRow[]): void {
    this.#rows.clear();
    this.#changed = undefined;
    this.version = 0;
    for (const { table, key, row } of rows) {
      if (table !== TABLE) continue;
      const variable = row as unknown as VariableRow;
      this.#rows.set(key, variable);
      this.version = Math.max(this.version, variable.version);
    }
  }
}
