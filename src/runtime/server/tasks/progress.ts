import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import { issueProblems } from '../../tools/schema-problems.js';

/*
 * The variables of a task, and the form of its progress. Keys with the prefix `_workflow.` are those of the server: no
 * program sets them. A reader keeps members that it does not know, since a later version may have written them.
 */

/** The key of the progress of a task: a {@link WorkflowProgress}. */
export const WORKFLOW_PROGRESS_KEY = '_workflow.progress';

/** The key of the reason why a task is paused: a `PauseReason`. A task that is not paused does not have it. */
export const WORKFLOW_PAUSE_REASON_KEY = '_workflow.pause_reason';

/** What the keys of results begin with: the id of the step follows. */
export const WORKFLOW_RESULT_PREFIX = '_workflow.result.';

/** The version of {@link WorkflowProgress} that this server writes. */
export const WORKFLOW_SCHEMA_VERSION = 1;

/** The key of the result of a step. */
export function workflowResultKey(step: string): string {
  return `${WORKFLOW_RESULT_PREFIX}${step}`;
}

const STEP_STATUSES = ['pending', 'completed', 'failed', 'skipped'] as const;

/** How far a step is. A step that runs, or waits for an answer, is pending; one that a task waits for to be made is failed. */
export type WorkflowStepStatus = (typeof STEP_STATUSES)[number];

/** A step of a task. */
export interface WorkflowStepProgress {
  readonly name: string;
  /** The tool that it calls. Missing for a step of another kind. */
  readonly tool?: string;
  readonly status: WorkflowStepStatus;
}

/** How far a task is: its steps in declaration order. */
export interface WorkflowProgress {
  /** The name and the description of the workflow. */
  readonly goal: string;
  readonly steps: readonly WorkflowStepProgress[];
  readonly schemaVersion: number;
}

/** Thrown for a variable of a task that does not have the form that is asked for. */
export class TaskVariableError extends Error {
  override readonly name = 'TaskVariableError';

  /** @param problem completes "variable 'x' …". */
  constructor(
    readonly key: string,
    problem: string,
  ) {
    super(`variable '${key}' ${problem}`);
  }
}

/** The variable of a progress: plain JSON, with all members that the progress has. */
export function progressVariable(progress: WorkflowProgress): JsonObject {
  const { goal, steps, schemaVersion, ...unknown } = progress;
  return { goal, steps: steps.map((step) => ({ ...step })), schemaVersion, ...unknown };
}

/**
 * Reads a progress. Members that this version does not know stay where they are.
 *
 * @throws TaskVariableError where it is not a progress.
 */
export function readProgress(variable: Json): WorkflowProgress {
  const problem = progressProblem(variable);
  if (problem !== undefined) throw new TaskVariableError(WORKFLOW_PROGRESS_KEY, problem);
  return variable as unknown as WorkflowProgress;
}

function progressProblem(variable: Json): string | undefined {
  if (!isJsonObject(variable)) return 'is not an object';
  const { goal, steps, schemaVersion } = variable;
  if (typeof goal !== 'string') return 'has no text `goal`';
  if (!Number.isInteger(schemaVersion)) return 'has no number `schemaVersion`';
  if (!Array.isArray(steps)) return 'has no list `steps`';
  const malformed = steps.findIndex((step: Json) => !isStep(step));
  return malformed < 0 ? undefined : `has a malformed step at \`steps[${malformed}]\``;
}

function isStep(step: Json): boolean {
  if (!isJsonObject(step)) return false;
  const { name, tool, status } = step;
  const hasTool = tool === undefined || typeof tool === 'string';
  return typeof name === 'string' && hasTool && STEP_STATUSES.some((each) => each === status);
}

/** Returns a variable that is text; `undefined` for one that is missing. Another one throws a {@link TaskVariableError}. */
export function getString(variables: JsonObject, key: string): string | undefined {
  const value = ownProperty(variables, key);
  if (value === undefined || typeof value === 'string') return value;
  throw new TaskVariableError(key, 'is not text');
}

/** Returns a variable that is a number; `undefined` for one that is missing. Another one throws a {@link TaskVariableError}. */
export function getNumber(variables: JsonObject, key: string): number | undefined {
  const value = ownProperty(variables, key);
  if (value === undefined || typeof value === 'number') return value;
  throw new TaskVariableError(key, 'is not a number');
}

/**
 * Returns a variable as a Standard Schema, such as one of zod, reads it; `undefined` for one that is missing.
 * @throws TaskVariableError for a variable that does not match the schema.
 */
export async function getTyped<T>(
  variables: JsonObject,
  key: string,
  schema: StandardSchemaV1<unknown, T>,
): Promise<T | undefined> {
  const value = ownProperty(variables, key);
  if (value === undefined) return undefined;
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const problems = issueProblems(result.issues).map(({ message }) => message);
  throw new TaskVariableError(key, `does not match its schema: ${problems.join('; ')}`);
}
