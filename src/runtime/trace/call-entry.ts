import { references } from '../../graph/expression/references.js';
import { isJsonObject, type Json, type JsonObject, type Value } from '../../graph/json.js';
import type { AskNode, CallNode } from '../../graph/model.js';
import type { NodeInstance } from '../../plan/instances.js';
import { answerSchema } from '../engine/nodes/wait.js';
import type { RunMask } from '../host/run-mask.js';
import { jsonText } from '../tools/encode-text.js';
import { bodyName, handOffTexts } from './hand-off-texts.js';
import { type HandOffCall, RESULT_LIMIT } from './messages.js';
import { nameOf } from './open-nodes.js';
import { texts } from './texts.js';

/**
 * A call, a read or a question as a hand-off lists it.
 * @param given the input of the call, the address of the resource, or the message and the options of the question.
 */
export function entryOf(node: NodeInstance, given: Value, secrets: RunMask): HandOffCall {
  const { node: model } = node.planned;
  const value = written(given);
  const [step, around] = [nameOf(node.key), bodyName(node.scope)];
  switch (model.kind) {
    case 'call':
      return { step, tool: model.tool, arguments: shown(value, model, secrets), ...around };
    case 'resource':
      return { step, resource: model.resource, uri: secrets.text(String(value)), ...around };
    case 'ask':
      return { step, ...question(model, value, secrets), ...around };
    default:
      throw new Error(`a ${model.kind} node is no call`);
  }
}

/** A call as the text of a hand-off lists it, with its note below. */
export function callText(call: HandOffCall): string {
  const line = lineOf(call);
  return call.note === undefined ? line : `${line}${texts.noteLine(call.note)}`;
}

function lineOf(call: HandOffCall): string {
  if ('tool' in call) return texts.callTool(call.tool, call.arguments);
  if ('uri' in call) return texts.readResource(call.uri);
  return handOffTexts.ask(call.ask, call.options ?? [], call.schema);
}

/** A value with the texts that stand for what is not known. */
function written(value: Value): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json);
}

/** For whoever follows the hand-off to put it. */
function question(step: AskNode, value: Json, secrets: RunMask) {
  const { message = null, options: given } = isJsonObject(value) ? value : {};
  const options = Array.isArray(given) ? given.map(String) : undefined;
  return {
    ask: secrets.text(String(message)),
    ...(options === undefined ? {} : { options: options.map((option) => secrets.text(option)) }),
    schema: answerSchema(step, options),
  };
}

/** Arguments as a hand-off shows them; one that is too long to repeat is named by where it comes from. */
function shown(value: Json, node: CallNode, secrets: RunMask): JsonObject {
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
