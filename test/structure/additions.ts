import { readFileSync } from 'node:fs';
import { ROOT } from './source-files.js';

/** The edit of one file. */
export interface Part {
  readonly file: string;
  /** The file's whole text, where it is new; else what is put in front of lines that the file has once each. */
  readonly edit: string | readonly { readonly before: string; readonly text: string }[];
  /**
   * What the compiler says where the addition lacks this part: the file it names, and words of its message. None where
   * nothing else names it.
   */
  readonly missing?: { readonly file: string; readonly message: RegExp };
  /** Pieces of the new text, and what the compiler says about the file without one of them. */
  readonly pieces?: readonly { readonly text: string; readonly message: RegExp }[];
}

/** Something small that is added to the product, as an author of it would. */
export interface Addition {
  readonly what: string;
  /** How many files of the product it may touch. */
  readonly atMost: number;
  readonly parts: readonly Part[];
}

const KINDS = 'src/graph/kinds/kinds.ts';
const VERBS = 'src/codegen/verbs.ts';
const LINKS = 'src/codegen/link/steps.ts';
const BEGIN = 'src/runtime/engine/nodes/begin.ts';
const REHEARSAL = 'src/runtime/engine/rehearsal.ts';
const TRACE = 'src/runtime/trace/kinds.ts';

/** A step that writes a line for observers. */
const kind: Addition = {
  what: 'a kind of node',
  atMost: 8,
  parts: [
    {
      file: 'src/graph/kinds/note.ts',
      edit: `import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import type { KindDescriptor } from './descriptor.js';
import type { NodeBase } from './node.js';

/** Tells observers something. It has no value. */
export interface NoteNode extends NodeBase {
  readonly kind: 'note';
  readonly message: Expr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly note: NoteNode;
  }
}

export const note: KindDescriptor<NoteNode> = {
  schema: ({ z, fallible, expr }): z.ZodType<NoteNode> =>
    z.strictObject({ kind: z.literal('note'), ...fallible, message: expr }),
  expressions: { message: true },
  bodies: {},
  value: 'none',
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: () => [],
  describe: ({ message }, print) => \`note \${print(message)}\`,
  shape: 'step',
};
`,
      missing: { file: KINDS, message: /'\.\/note\.js'/ },
      pieces: [
        { text: '  expressions: { message: true },', message: /'expressions' is missing/ },
        { text: ' message: true ', message: /'message' is missing/ },
        ...['bodies', 'value', 'work', 'isRetryable', 'waits', 'exit', 'isStep', 'shape'].map((name) => ({
          text: name,
          message: new RegExp(`'${name}' is missing`),
        })),
      ],
    },
    {
      file: KINDS,
      edit: [
        {
          before: "import { ask, delegate, shell, wait } from './waits.js';",
          text: "import { note } from './note.js';",
        },
        {
          before: "export type { AskNode, DelegateNode, ShellNode, WaitNode } from './waits.js';",
          text: "export type { NoteNode } from './note.js';",
        },
        { before: '} satisfies KindTable;', text: '  note,' },
      ],
      missing: { file: KINDS, message: /'note' is missing/ },
    },
    {
      file: 'src/decorators/control-flow.ts',
      edit: [
        {
          before: '/** Options of {@link goto}. */',
          text: `/** Tells observers something. It has no value. */
export function note(_message: string, _options?: OrderOptions): undefined {
  throw new WorkflowNotRunnableError('note(...)');
}
`,
        },
      ],
      missing: { file: VERBS, message: /'note' does not exist/ },
    },
    {
      file: VERBS,
      edit: [{ before: "  'ask.info': { arguments: 2,", text: "  note: { arguments: 2, makes: 'effect' }," }],
      missing: { file: VERBS, message: /'note' is missing/ },
    },
    {
      file: LINKS,
      edit: [
        {
          before: "  'ask.info': (linker, call) =>",
          text: `  note: (linker, { args, callee }) => {
    const message = linker.argument(args[0], callee.place);
    return message && linker.outcome({ kind: 'note', message }, {}, boundToNothing);
  },`,
        },
        {
          before: '  guarded,',
          text: '  boundToNothing,',
        },
      ],
      missing: { file: LINKS, message: /'note' is missing/ },
    },
    {
      file: BEGIN,
      edit: [
        {
          before: 'import { failureCodeOf } ',
          text: "import type { NoteNode } from '../../../graph/model.js';",
        },
        { before: '  compensate: beginCompensate,', text: '  note: beginNote,' },
        {
          before: "/** Ends the node's workflow with a value. */",
          text: `/** Evaluates the message, so that a missing value fails the node. */
function beginNote(transition: Transition, node: NodeRecord, { message }: NoteNode): void {
  const evaluated = readerOf(transition, node).value(message);
  if (evaluated.ok) complete(transition, node, undefined);
  else fail(transition, node, { failure: evaluated.failure, reached: 0, isPermanent: true });
}
`,
        },
      ],
      missing: { file: BEGIN, message: /'note' is missing/ },
    },
    {
      file: REHEARSAL,
      edit: [{ before: "      case 'set':", text: "      case 'note':" }],
      missing: { file: REHEARSAL, message: /'NoteNode' is not assignable/ },
    },
    {
      file: TRACE,
      edit: [
        {
          before: '  return: { log: SilentLog,',
          text: '  note: { log: SilentLog, planLine: (node) => titled(node, printExpression(node.message)) },',
        },
      ],
      missing: { file: TRACE, message: /'note' is missing/ },
    },
  ],
};

const expressionFunction: Addition = {
  what: 'a function of expressions',
  atMost: 1,
  parts: [
    {
      file: 'src/graph/expression/functions.ts',
      edit: [
        {
          before: '  /** Text without white space and line ends around it. */',
          text: `  method('padStart', ['text', 'number?', 'text?'], 2, 'text', ([text, length, fill], call) =>
    chargedText(textOf(text).padStart(numberOf(length) ?? 0, fill === undefined ? ' ' : textOf(fill)), call),
  ),`,
        },
      ],
      pieces: [{ text: "'text', (", message: /Argument of type|Expected 5 arguments/ }],
    },
  ],
};

const EVENTS = 'src/runtime/engine/events.ts';
const LEDGER = 'src/runtime/trace/ledger.ts';
const SECRETS = 'src/runtime/secrets/derived-secrets.ts';

const fact: Addition = {
  what: 'a fact',
  atMost: 3,
  parts: [
    {
      file: EVENTS,
      edit: [
        {
          before: '  /** An action was answered. */',
          text: "  | { readonly kind: 'noted'; readonly node: string; readonly text: string }",
        },
      ],
      missing: { file: LEDGER, message: /'"noted"' is not comparable/ },
    },
    {
      file: LEDGER,
      edit: [{ before: "      case 'compensationSkipped':", text: "      case 'noted':" }],
      missing: { file: LEDGER, message: /"noted"/ },
    },
    {
      file: SECRETS,
      edit: [{ before: "      case 'compensationSkipped':", text: "      case 'noted':" }],
      missing: { file: SECRETS, message: /"noted"/ },
    },
  ],
};

const OPTIONS = 'src/codegen/extract/options.ts';
const MEANINGS = 'src/codegen/link/options.ts';

const stepOption: Addition = {
  what: 'an option of @Step',
  atMost: 3,
  parts: [
    {
      file: 'src/decorators/workflow.ts',
      edit: [
        {
          before: '  /** A name for people. */',
          text: '  /** Who answers for it. */\n  readonly owner?: string;',
        },
      ],
      missing: { file: OPTIONS, message: /'owner' does not exist/ },
    },
    {
      file: OPTIONS,
      edit: [{ before: '  guidance: text,', text: '  owner: text,' }],
      missing: { file: OPTIONS, message: /'owner' is missing/ },
    },
    {
      file: MEANINGS,
      edit: [{ before: "  guidance: 'every step',", text: "  owner: 'every step'," }],
      missing: { file: MEANINGS, message: /'owner' is missing/ },
    },
  ],
};

const DIALECTS = 'src/formats/dialects/dialects.ts';

/** Spec files with a list of tools, each of which is called after the one before. */
const dialect: Addition = {
  what: 'a dialect of spec files',
  atMost: 2,
  parts: [
    {
      file: 'src/formats/dialects/list/list.ts',
      edit: `import { GRAPH_VERSION, type Node } from '../../../graph/model.js';
import { entryOf } from '../../text/located.js';
import type { Dialect } from '../dialect.js';
import { Fields, textsOf } from '../fields.js';

export const list: Dialect = {
  id: 'list',
  recognise: (document) => entryOf(document, 'calls') !== undefined,
  lower(document, reports) {
    const fields = new Fields(reports, document, 'the list', ['list', 'calls']);
    const [name, calls] = [fields.text('list'), fields.list('calls')];
    fields.require('list');
    if (name === undefined || calls === undefined) return undefined;
    const nodes = textsOf(reports, calls, 'a call').map((tool, index): Node => ({
      id: \`call_\${index + 1}\`,
      kind: 'call',
      tool: tool.value,
      input: { kind: 'dict', entries: [] },
      after: index === 0 ? [] : [\`call_\${index}\`],
      join: 'all_success',
      executor: 'server',
      source: reports.source.placeOf(tool),
    }));
    const graph = {
      graphVersion: GRAPH_VERSION,
      ...{ name: name.value, description: 'Calls tools in turn', inputs: [], instructions: [], nodes },
      returns: { kind: 'ref', root: 'steps', path: [\`call_\${nodes.length}\`] },
      source: reports.source.placeOf(name),
    } as const;
    return { domain: { name: 'lists', rules: [] }, graphs: [graph] };
  },
  editorSchema: ({ tools }) => ({
    type: 'object',
    properties: { list: { type: 'string' }, calls: { type: 'array', items: { $ref: '#/definitions/tool' } } },
    required: ['list', 'calls'],
    definitions: { tool: { enum: tools.map(({ name }) => name) } },
  }),
};
`,
      missing: { file: DIALECTS, message: /'\.\/list\/list\.js'/ },
      pieces: [
        { text: "  id: 'list',", message: /'id' is missing/ },
        {
          text: "recognise: (document) => entryOf(document, 'calls') !== undefined,",
          message: /'recognise' is missing/,
        },
      ],
    },
    {
      file: DIALECTS,
      edit: [
        {
          before: "import { orchestrator } from './orchestrator/orchestrator.js';",
          text: "import { list } from './list/list.js';",
        },
        { before: '  // The last one reports the faults', text: '  list,' },
      ],
    },
  ],
};

export const ADDITIONS: readonly Addition[] = [kind, expressionFunction, fact, stepOption, dialect];

/** A part without a piece of its text: a whole line where it is the name of a property. */
export function without(part: Part, piece: string): Part {
  const shorten = (text: string): string => {
    const line = text.split('\n').find((each) => each.startsWith(`  ${piece}: `));
    const shorter = text.replace(line ?? piece, '');
    if (shorter === text) throw new Error(`${part.file} has no ${JSON.stringify(piece)}`);
    return shorter;
  };
  const { edit } = part;
  return {
    ...part,
    edit:
      typeof edit === 'string'
        ? shorten(edit)
        : edit.map(({ before, text }) => ({ before, text: shorten(text) })),
  };
}

/** The files of some parts with their edits, by path. */
export function edited(parts: readonly Part[]): ReadonlyMap<string, string> {
  return new Map(parts.map((part) => [part.file, textOf(part)]));
}

function textOf({ file, edit }: Part): string {
  if (typeof edit === 'string') return edit;
  return edit.reduce(
    (text, { before, text: added }) => {
      const [start, ...others] = text.split(`\n${before}`);
      if (start === undefined || others.length !== 1)
        throw new Error(`${file} has ${others.length} lines that begin with ${JSON.stringify(before)}`);
      return `${start}\n${added}\n${before}${others[0]}`;
    },
    readFileSync(ROOT + file, 'utf8'),
  );
}
