import type { Json, JsonObject } from '../../../graph/json.js';
import { clip, jsonText, oneLine } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { howToAnswer } from '../../runs/actions/action.js';
import type { RunStore } from '../../runs/run-store.js';
import type { ToolResult } from '../wire.js';
import { requestText } from './results.js';

/** What an agent does next. */
type NextStep = Extract<Awaited<ReturnType<RunStore['nextStep']>>, { readonly ok: true }>['next'];

/** What the agent of a child does next, as the result of a tool. @param id of the child, as the agent sent it. */
export function stepResult(id: string, next: NextStep, warnings: readonly RunWarning[] = []): ToolResult {
  const text = [textOf(id, next), ...warnings.map(({ code, message }) => `${code}: ${message}`)];
  const more = warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) };
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: { workflow_id: id, ...(next as unknown as JsonObject), ...more },
  };
}

function textOf(id: string, next: NextStep): string {
  switch (next.status) {
    case 'pending_step':
      return stepText(id, next.step);
    case 'waiting':
      return `No step of this task is ready. Call get_next_step { "workflow_id": ${jsonText(id)} } again after ${next.retry_after_ms} ms.`;
    case 'complete':
      return `The task is complete. Its result: ${jsonText(next.final_result)}`;
    case 'error':
      return `The task has ended without a result: ${oneLine(next.error.message)} (${clip(next.error.code)})`;
    default:
      return next satisfies never;
  }
}

function stepText(id: string, step: Extract<NextStep, { status: 'pending_step' }>['step']): string {
  if (step.type === 'wait' || 'children' in step.parameters) return requestText(step);
  const [run, key] = [jsonText(id), jsonText(step.step_id)];
  const { schema, expires_at, refused_values = [] } = step;
  return [
    `Step ${key} ${requestText(step)}`,
    ...(schema === undefined ? [] : [`The schema of the result: ${jsonText(schema as Json)}`]),
    ...refused_values.map(
      ({ problems }, index) => `Try ${index + 1} did not fit: ${problems.map(oneLine).join('; ')}`,
    ),
    `Then call submit_step_result { "workflow_id": ${run}, "step_id": ${key}, "result": … }. ${howToAnswer(step, schema)}`,
    'If it cannot be done, send "error": { "message": … } in place of the result.',
    ...(expires_at === undefined ? [] : [`The step expires at ${expires_at}.`]),
  ].join('\n');
}
