import fc from 'fast-check';
import { constructs } from './generated-constructs.fixture.js';

/** The known shape of the value of a generated step. */
export type Shape = 'echo' | 'maybe echo' | 'text' | 'number' | 'texts';

/** A field of a generated workflow: its decorator and its initializer. */
export interface GeneratedStep {
  readonly name: string;
  readonly decorator: string;
  readonly initializer: string;
}

export interface GeneratedWorkflow {
  readonly steps: readonly GeneratedStep[];
  readonly input: { readonly task: string; readonly limit: number; readonly note?: string };
}

/** The classes and functions that generated workflows use, as source. */
export const SURROUNDINGS = `import { Arg, attempt, call, chain, done, fail, forEach, get, goto, link, match, parallel, prompt, read, Resource, run, set, State, Step, Tool, Workflow } from 'stepwright';

@Tool({ name: 'echo', description: 'Gives back what it is given', annotations: { idempotentHint: true } })
export class Echo {
  execute(input: { text: string; n?: number; list?: string[] }): { text: string; n: number; list: string[] } {
    return { n: 0, list: [], ...input };
  }
}

@Tool({ name: 'broken', description: 'Fails' })
export class Broken {
  execute(_input: { text?: string }): { text: string; n: number; list: string[] } {
    throw new Error('it broke');
  }
}

@Resource({ name: 'guide' })
export class Guide { static readonly uri = 'notes://guide'; }

@Resource({ name: 'page' })
export class Page {
  static readonly uriTemplate = 'notes://pages/{name}/{+rest}';
  read({ name }: { name: string; rest: string }) { return name; }
}

@State({ name: 'last', initial: 'none yet' })
export class Last { value!: string; }

@Workflow({ name: 'sub', description: 'Says it twice' })
export class Sub {
  @Arg({ description: 'Text' }) text!: Arg<string>;
  @Arg({ description: 'Number', default: 1 }) n!: Arg<number, 'default'>;
  @Step() said = call(Echo, { text: this.text + this.text, n: this.n });
  output = done({ text: this.said.text, n: this.said.n, list: [get(Last)] });
}

export function shout(text: string, times?: number): string { return text.toUpperCase() + '!'.repeat(times ?? 1); }
export const size = (out: { text: string; list: string[] }): number => out.text.length + out.list.length;
`;

export interface Known {
  readonly name: string;
  readonly shape: Shape;
}

const letters = fc.stringMatching(/^[a-z ,%/é]{0,6}$/);
const quoted = letters.map((text) => JSON.stringify(text));

/** Expressions over the earlier fields that always have a value of their type. */
export class Expressions {
  readonly #known: readonly Known[];
  /** Names bound by arrows around the expression, with their shapes. */
  readonly #locals: readonly Known[];
  readonly #made = new Map<string, fc.Arbitrary<string>>();

  constructor(known: readonly Known[], locals: readonly Known[] = []) {
    this.#known = known;
    this.#locals = locals;
  }

  text(depth = 2): fc.Arbitrary<string> {
    return this.#once(`text ${depth}`, () => this.#text(depth));
  }

  number(depth = 2): fc.Arbitrary<string> {
    return this.#once(`number ${depth}`, () => this.#number(depth));
  }

  texts(depth = 2): fc.Arbitrary<string> {
    return this.#once(`texts ${depth}`, () => this.#texts(depth));
  }

  flag(depth = 2): fc.Arbitrary<string> {
    return this.#once(`flag ${depth}`, () => this.#flag(depth));
  }

  /** Each is part of many others, which would make it again: their number grows exponentially with the depth. */
  #once(name: string, make: () => fc.Arbitrary<string>): fc.Arbitrary<string> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    return made;
  }

  #text(depth: number): fc.Arbitrary<string> {
    const leaves = [
      quoted,
      fc.constantFrom('this.task', "(this.note ?? 'none')", 'get(Last)', ...this.#paths('text')),
    ];
    if (depth === 0) return fc.oneof(...leaves);
    const [text, number, texts] = [this.text(depth - 1), this.number(depth - 1), this.texts(depth - 1)];
    return fc.oneof(
      { weight: 4, arbitrary: fc.oneof(...leaves) },
      fc.tuple(text, number).map(([a, n]) => `\`<\${${a}}|\${${n}}>\``),
      fc.tuple(text, number).map(([a, n]) => `(${a} + ${n})`),
      fc
        .tuple(text, fc.constantFrom('trim()', 'toUpperCase()', 'toLowerCase()', 'slice(1, -1)'))
        .map(([a, m]) => `${a}.${m}`),
      fc.tuple(texts, quoted).map(([list, by]) => `${list}.join(${by})`),
      // A literal index below 0 is a fault.
      fc
        .tuple(texts, fc.constantFrom('0', '3', 'this.limit', '(this.limit + 1)'))
        .map(([list, n]) => `(${list}[${n}] ?? 'out of it')`),
      fc
        .tuple(texts, quoted)
        .map(([list, by]) => `(${list}.find((each) => each.startsWith(${by})) ?? 'not found')`),
      fc.tuple(this.flag(depth - 1), text, text).map(([test, yes, no]) => `(${test} ? ${yes} : ${no})`),
      text.map((a) => `prompt\`\${Echo} and \${Guide}: \${${a}}\``),
    );
  }

  #number(depth: number): fc.Arbitrary<string> {
    const leaves = [
      fc.integer({ min: -9, max: 9 }).map(String),
      fc.constantFrom('this.limit', ...this.#paths('number')),
    ];
    if (depth === 0) return fc.oneof(...leaves);
    const [a, b] = [this.number(depth - 1), this.number(depth - 1)];
    return fc.oneof(
      { weight: 3, arbitrary: fc.oneof(...leaves) },
      fc.tuple(a, fc.constantFrom('+', '-', '*'), b).map(([x, operator, y]) => `(${x} ${operator} ${y})`),
      a.map((x) => `(-(${x}))`),
      this.text(depth - 1).map((x) => `${x}.length`),
      fc
        .tuple(this.texts(depth - 1), quoted)
        .map(([list, x]) => `${list}.filter((each) => each.includes(${x})).length`),
    );
  }

  #texts(depth: number): fc.Arbitrary<string> {
    const leaves = [fc.array(quoted, { maxLength: 2 }).map((items) => `[${items.join(', ')}]`)];
    const paths = this.#paths('texts');
    if (paths.length > 0) leaves.push(fc.constantFrom(...paths));
    if (depth === 0) return fc.oneof(...leaves);
    const item = new Expressions(this.#known, [...this.#locals, { name: 'each', shape: 'text' }]);
    const inner = this.texts(depth - 1);
    return fc.oneof(
      { weight: 3, arbitrary: fc.oneof(...leaves) },
      fc.tuple(inner, item.text(depth - 1)).map(([list, to]) => `${list}.map((each) => ${to})`),
      fc.tuple(inner, item.flag(depth - 1)).map(([list, test]) => `${list}.filter((each) => ${test})`),
      fc.tuple(this.text(depth - 1), inner).map(([a, list]) => `[${a}, ...${list}]`),
      fc.tuple(this.text(depth - 1), quoted).map(([a, by]) => `${a}.split(${by})`),
      fc.tuple(inner, this.number(0)).map(([list, n]) => `${list}.slice(${n})`),
    );
  }

  #flag(depth: number): fc.Arbitrary<string> {
    const leaf = fc.oneof(
      fc
        .tuple(this.number(0), fc.constantFrom('<', '>=', '===', '!=='), this.number(0))
        .map(([a, op, b]) => `(${a}) ${op} (${b})`),
      fc.tuple(this.text(0), this.text(0)).map(([a, b]) => `${a}.includes(${b})`),
      fc.constantFrom('this.note === undefined', 'this.note != null'),
    );
    if (depth === 0) return leaf;
    const [a, b] = [this.flag(depth - 1), this.flag(depth - 1)];
    return fc.oneof(
      { weight: 3, arbitrary: leaf },
      fc.tuple(a, fc.constantFrom('&&', '||'), b).map(([x, operator, y]) => `(${x} ${operator} ${y})`),
      a.map((x) => `!(${x})`),
      fc.tuple(this.texts(depth - 1), quoted).map(([list, x]) => `${list}.some((each) => each !== ${x})`),
    );
  }

  /** Every expression for a value of a shape. */
  #paths(shape: 'text' | 'number' | 'texts'): string[] {
    const field = { text: 'text', number: 'n', texts: 'list' }[shape];
    const standIn = { text: "''", number: '0', texts: '[]' }[shape];
    const of = (prefix: string, known: Known): string[] => {
      if (known.shape === shape) return [`${prefix}${known.name}`];
      if (known.shape === 'echo') return [`${prefix}${known.name}.${field}`];
      return known.shape === 'maybe echo' ? [`(${prefix}${known.name}?.${field} ?? ${standIn})`] : [];
    };
    return [
      ...this.#known.flatMap((each) => of('this.', each)),
      ...this.#locals.flatMap((each) => of('', each)),
    ];
  }
}

export type Initializer = fc.Arbitrary<{ readonly shape: Shape; readonly initializer: string }>;

/** An input of the tool `echo`. */
export function echoInput(expressions: Expressions): fc.Arbitrary<string> {
  return fc
    .record(
      { text: expressions.text(), n: expressions.number(), list: expressions.texts() },
      { requiredKeys: ['text'], noNullPrototype: true },
    )
    .map(
      (input) =>
        `{ ${Object.entries(input)
          .map(([key, value]) => `${key}: ${value}`)
          .join(', ')} }`,
    );
}

function initializer(known: readonly Known[]): Initializer {
  const now = new Expressions(known);
  const withValue = new Expressions(known, [{ name: 'value', shape: 'echo' }]);
  const withError = "{ text: error.code + ': ' + error.message, n: error.attempts, list: [error.code] }";
  const as = (shape: Shape) => (source: string) => ({ shape, initializer: source });
  const echo = echoInput(now).map((input) => `call(Echo, ${input})`);
  const page = fc
    .tuple(now.text(0), now.text(0))
    .map(([name, rest]) => `read(Page, { name: 'p' + ${name}, rest: ${rest} })`);
  return fc.oneof(
    { weight: 4, arbitrary: echo.map(as('echo')) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(now.flag(), echo)
        .map(([test, step]) => `${test} ? ${step} : undefined`)
        .map(as('maybe echo')),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(now.flag(), echo)
        .map(([test, step]) => `${test} ? undefined : ${step}`)
        .map(as('maybe echo')),
    },
    now.text().map(as('text')),
    now.number().map(as('number')),
    now.texts().map(as('texts')),
    fc.constant('read(Guide)').map(as('text')),
    page.map(as('text')),
    page
      .chain((read) => now.text(1).map((text) => `call(Echo, { text: ${text} + ${read} })`))
      .map(as('echo')),
    fc
      .tuple(now.text(), now.number(0))
      .map(([text, times]) => `shout(${text}, (${times}) > 0 ? 2 : 1)`)
      .map(as('text')),
    fc
      .tuple(echoInput(now), withValue.text())
      .map(([input, to]) => `call(Echo, ${input}, { transform: (value) => ${to} })`)
      .map(as('text')),
    echoInput(now)
      .map((input) => `call(Echo, ${input}, { transform: size })`)
      .map(as('number')),
    fc
      .tuple(echo, echoInput(withValue))
      .map(([step, input]) => `chain(${step}, (value) => call(Echo, ${input}))`)
      .map(as('echo')),
    fc
      .tuple(echo, withValue.text())
      .map(([step, text]) => `chain(${step}, (value) => ${text}, shout)`)
      .map(as('text')),
    fc
      .tuple(now.flag(), echo, echoInput(withValue))
      .map(([test, step, input]) => `${test} ? chain(${step}, (value) => call(Echo, ${input})) : undefined`)
      .map(as('maybe echo')),
    echo.map((step) => `attempt(${step}, (error) => (${withError}))`).map(as('echo')),
    now
      .text(1)
      .map((text) => `attempt(call(Broken, { text: ${text} }), (error) => (${withError}))`)
      .map(as('echo')),
    now
      .text(1)
      .map((text) => `${text} ?? fail('never')`)
      .map(as('text')),
    fc.constant('link(Guide).uri').map(as('text')),
    { weight: 8, arbitrary: constructs(known) },
  );
}

const NAMES = Array.from({ length: 10 }, (_, index) => `s${index}`);

/** Steps that use only earlier fields: nothing in them can fail except under \`attempt\`. */
function steps(count: number): fc.Arbitrary<readonly GeneratedStep[]> {
  const next = (
    done: readonly GeneratedStep[],
    known: readonly Known[],
  ): fc.Arbitrary<readonly GeneratedStep[]> => {
    const name = NAMES[done.length];
    if (name === undefined || done.length === count) {
      return fc.constant([
        ...done,
        {
          name: 'output',
          decorator: '',
          initializer: `done({ ${known.map((each) => `${each.name}: this.${each.name}`).join(', ')} })`,
        },
      ]);
    }
    const guidance = fc.constantFrom(
      '',
      `{ guidance: 'About {task}' }`,
      `{ title: 'A title', timeoutMs: 5_000 }`,
      ...known.map((each) => `{ guidance: 'After {${each.name}}' }`),
    );
    return fc.tuple(initializer(known), guidance).chain(([made, options]) => {
      const isPlain = !takesTime(made.initializer);
      const decorator = `@Step(${isPlain && options.includes('timeoutMs') ? '' : options})`;
      return next(
        [...done, { name, decorator, initializer: made.initializer }],
        [...known, { name, shape: made.shape }],
      );
    });
  };
  return next([], []);
}

/** Whether a timeout applies to a step: its first action, or that of an arm, takes time. */
function takesTime(initializer: string): boolean {
  return /\b(?:call|read|shout|run|forEach|parallel|match)\(/.test(initializer);
}

export const generatedWorkflow: fc.Arbitrary<GeneratedWorkflow> = fc
  .integer({ min: 1, max: 10 })
  .chain((count) =>
    fc.record({
      steps: steps(count),
      input: fc.record(
        { task: letters, limit: fc.integer({ min: -3, max: 9 }), note: letters },
        { requiredKeys: ['task', 'limit'], noNullPrototype: true },
      ),
    }),
  );

/** One workflow class, with one line for each field. */
export function printWorkflow(name: string, steps: readonly GeneratedStep[]): string {
  const fields = steps.map(
    ({ name: field, decorator, initializer: value }) => `  ${decorator} ${field} = ${value};`,
  );
  return `@Workflow({ name: '${name}', description: 'does something' })
export class ${name.toUpperCase()} {
  @Arg({ description: 'Task' }) task!: Arg<string>;
  @Arg({ description: 'Limit', type: 'integer' }) limit!: Arg<number>;
  @Arg({ description: 'Note' }) note?: Arg<string>;
${fields.join('\n')}
}
`;
}

/** A way to make a step faulty, and the expected diagnostic. */
export interface Fault {
  readonly code: string;
  readonly spoil: (step: GeneratedStep) => GeneratedStep;
}

const within =
  (initializer: string): Fault['spoil'] =>
  (step) => ({ ...step, initializer });
const optioned =
  (options: string): Fault['spoil'] =>
  (step) => ({ ...step, decorator: `@Step(${options})` });

/** Faults that can be put into any step but the last. */
export const faults: readonly Fault[] = [
  { code: 'SW1003', spoil: optioned('{ title: String(5) }') },
  { code: 'SW1011', spoil: optioned("{ guidence: 'a' }") },
  { code: 'SW1012', spoil: optioned('{ timeoutMs: -1 }') },
  { code: 'SW1018', spoil: within('undefined') },
  {
    code: 'SW1021',
    spoil: (step) => ({
      ...step,
      decorator: '@Step({ retry: { attempts: 2 } })',
      initializer: "this.note === 'x' ? fail('no') : undefined",
    }),
  },
  { code: 'SW1007', spoil: (step) => ({ ...step, decorator: '', initializer: "call(Echo, { text: 'a' })" }) },
  { code: 'SW2001', spoil: within('call(Echo, { text: new Date().toISOString() })') },
  { code: 'SW2001', spoil: within("this.task.normalize('NFC')") },
  { code: 'SW2002', spoil: within("this.task == 'a' ? 1 : 2") },
  { code: 'SW2003', spoil: within('[call(Broken)]') },
  { code: 'SW2001', spoil: within('forEach([1], (n) => { return n; })') },
  { code: 'SW2006', spoil: within("call(Echo, { text: 'a' }, { compensate: (out) => out.text })") },
  { code: 'SW3003', spoil: within('run(Echo)') },
  { code: 'SW3004', spoil: within('parallel({ a: forEach([1], () => this.output) })') },
  { code: 'SW3014', spoil: within('goto(this.task, { max: 1 })') },
  { code: 'SW4003', spoil: within('match(this.task, { a: run(Sub) })') },
  { code: 'SW2004', spoil: within('hidden(this.task)') },
  { code: 'SW2005', spoil: within('[] ? 1 : 2') },
  { code: 'SW3001', spoil: within('this.nowhere') },
  { code: 'SW3001', spoil: within('[this.task].map((each) => each + this.nowhere)') },
  { code: 'SW3003', spoil: within('call(Guide)') },
  { code: 'SW3004', spoil: within('this.output') },
  { code: 'SW3004', spoil: within('[1].map(() => this.output)') },
  { code: 'SW3005', spoil: optioned("{ after: ['nowhere'] }") },
  { code: 'SW3006', spoil: optioned("{ guidance: '{nowhere}' }") },
  { code: 'SW3007', spoil: within('call(Nowhere)') },
  { code: 'SW3008', spoil: within("read(Guide, { name: 'a' })") },
  { code: 'SW3009', spoil: within("read(Page, { name: 'a' })") },
  { code: 'SW4003', spoil: within('call(Echo, { n: 1 })') },
  { code: 'SW4004', spoil: within("call(Echo, { text: 'a', txt: 'b' })") },
  { code: 'SW4005', spoil: within("chain(call(Echo, { text: 'a' }), (value) => value.txet)") },
  { code: 'SW4012', spoil: within('call(Echo, { text: 5 })') },
];
