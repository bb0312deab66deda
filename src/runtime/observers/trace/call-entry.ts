import { references } from '../../../graph/expression/references.js';
import { isJsonObject, type JsonObject, type JsonSchema, type Value } from '../../../graph/json.js';
import type { AskNode, CallNode } from '../../../graph/model.js';
import { jsonText } from '../../catalogue/encode-text.js';
import type { NodeInstance } from '../../engine/instances.js';
import { answerSchema } from '../../engine/nodes/ask.js';
import type { RunMask } from '../../hosts/run-mask.js';
import { RESULT_LIMIT } from './block.js';
import { bodyName } from './hand-off-texts.js';
import type { HandOffCall } from './messages.js';
import { nameOf } from './open-values.js';
import type { PlannedStep } from './outlook.js';
import type { Resolver } from './resolve.js';
import { texts } from './texts.js';

/** A step that a hand-off can list. */
export type ListedStep = PlannedStep | AskNode;

/** A call or read as a hand-off lists it; nothing where a value of it can never exist. */
export function callOf(
  step: PlannedStep,
  node: NodeInstance,
  resolver: Resolver,
  secrets: RunMask,
): HandOffCall | undefined {
  const resolved = resolver.resolve(step.kind === 'call' ? step.input : step.uri);
  if (!resolved.ok) return undefined;
  const name = nameOf(node.key);
  const around = bodyName(node.scope);
  if (step.kind === 'resource') {
    return { step: name, resource: step.resource, uri: secrets.text(String(resolved.value)), ...around };
  }
  return { step: name, tool: step.tool, arguments: shown(resolved.value, step, secrets), ...around };
}

/** A question as a hand-off lists it, for whoever follows the hand-off to put it. */
export function askOf(
  step: AskNode,
  node: NodeInstance,
  resolver: Resolver,
  secrets: RunMask,
): HandOffCall | undefined {
  const message = resolver.resolve(step.message);
  if (!message.ok || typeof message.value !== 'string') return undefined;
  const given = step.options === undefined ? undefined : resolver.resolve(step.options);
  const options = given?.ok && Array.isArray(given.value) ? given.value.map(String) : undefined;
  const schema: JsonSchema = answerSchema(step, options);
  return {
    step: nameOf(node.key),
    ask: secrets.text(message.value),
    ...(options === undefined ? {} : { options: options.map((option) => secrets.text(option)) }),
    schema,
    ...bodyName(node.scope),
  };
}

/** Arguments as a hand-off shows them; one that is too long to repeat is named by where it comes from. */
function shown(value: Value, node: CallNode, secrets: RunMask): JsonObject {
  // References to secrets are placeholders already; what is left are copies of their values.
  const pending = secrets.pending(node, isJsonObject(value) ? value : {});
  const { input } = node;
  return Object.fromEntries(
    Object.entries(pending).map(([key, member]) => {
      if (jsonText(member).length <= RESULT_LIMIT) return [key, member];
      const entry = input.entries.find((candidate) => 'key' in candidate && candidate.key === key);
      const source = entry !== undefined && 'key' in entry ? references(entry.value) : [];
      return [key, texts.computed(source.map(({ ref }) => ref.path.join('.')))];
    }),
  );
}
