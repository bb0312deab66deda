import type { Json, JsonSchema } from '../../../graph/json.js';
import { jsonText } from '../../catalogue/encode-text.js';
import type { AskMode } from '../../engine/contract.js';
import { constructTexts } from './construct-texts.js';

/** What a trace says at the end of a run that is not over. */
export const waitingTexts = {
  waits: (workflow: string, open: number) =>
    `Workflow '${workflow}' is not over: it waits for ${open === 1 ? 'this' : `these ${open} things, in any order`}:`,
  goesOn: (workflow: string) => `Workflow '${workflow}' is not over: it goes on by itself.`,
  question: ({
    step,
    mode,
    message,
    options,
    schema,
    until,
  }: {
    readonly step: string;
    readonly mode: AskMode;
    readonly message: string;
    readonly options: readonly string[];
    readonly schema: JsonSchema;
    readonly until: string | undefined;
  }) =>
    [
      constructTexts.question(step, mode, jsonText(message), options),
      `The answer is JSON that fits this schema: ${jsonText(schema)}`,
      ...(until === undefined ? [] : [`It must come before ${until}.`]),
    ].join('\n'),
  answer: (input: Json, mode: AskMode) =>
    `To answer, call tool 'submit_result' with ${jsonText(input)}${mode === 'confirm' ? ', or with false' : ''}`,
  wait: (step: string, until: string) => `${constructTexts.waits(step, until)} It then goes on by itself.`,
  look: (input: Json) => `To see how it stands, call tool 'get_workflow_status' with ${jsonText(input)}`,
  nobody: () => 'The run ends here: nothing keeps it until an answer comes.',
  numbered: (place: number, text: string) => `${place}. ${text.replaceAll('\n', '\n   ')}`,
  placeholder: {
    text: '<the text>',
    choice: '<one of the options>',
    yield: '<what fits the schema>',
  },
} as const;
