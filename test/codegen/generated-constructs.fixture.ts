import fc from 'fast-check';
import { Expressions, echoInput, type Initializer, type Known } from './generated-workflow.fixture.js';

/** A step of one shape, as source. */
type Source = fc.Arbitrary<string>;

/** Steps that contain steps, over the earlier fields. Nothing in them can fail except under `attempt`. */
export function constructs(known: readonly Known[]): Initializer {
  return fc.oneof(
    {
      weight: 4,
      arbitrary: echoStep(known, 2).map((initializer) => ({ shape: 'echo', initializer }) as const),
    },
    {
      weight: 2,
      arbitrary: textStep(known, 2).map((initializer) => ({ shape: 'text', initializer }) as const),
    },
    {
      weight: 2,
      arbitrary: textsStep(known, 2).map((initializer) => ({ shape: 'texts', initializer }) as const),
    },
    new Expressions(known)
      .text()
      .map((text) => ({ shape: 'text', initializer: `set(Last, ${text})` }) as const),
  );
}

/** @param locals names that arrows around the step bind. */
function echoStep(known: readonly Known[], depth: number, locals: readonly Known[] = []): Source {
  const now = new Expressions(known, locals);
  const input = echoInput(now);
  const call = input.map((given) => `call(Echo, ${given})`);
  const run = fc
    .tuple(now.text(1), fc.option(now.number(0)))
    .map(([text, n]) => `run(Sub, { text: ${text}${n === null ? '' : `, n: ${n}`} })`);
  if (depth === 0) return fc.oneof(call, run);
  const [one, other] = [echoStep(known, depth - 1, locals), echoStep(known, depth - 1, locals)];
  const text = textStep(known, depth - 1, locals);
  const withValue = [...locals, { name: 'value', shape: 'echo' as const }];
  return fc.oneof(
    call,
    run,
    fc.tuple(now.flag(1), one, other).map(([test, a, b]) => `(${test} ? ${a} : ${b})`),
    fc
      .tuple(now.flag(0), now.flag(0), one, other, call)
      .map(([first, second, a, b, c]) => `(${first} ? ${a} : ${second} ? ${b} : ${c})`),
    fc
      .tuple(now.flag(0), one, other)
      .map(([test, a, b]) => `match(${test} ? 'on hold' : 'b', { 'on hold': ${a}, b: ${b} })`),
    fc.tuple(now.flag(0), one, other).map(([test, a, b]) => `match(${test} ? 1 : 2, { 1: ${a}, 2: ${b} })`),
    fc.tuple(one, text).map(([a, b]) => `parallel({ first: ${a}, second: ${b} }).first`),
    fc
      .tuple(one, now.flag(0), other)
      .map(
        ([a, test, b]) =>
          `parallel({ a: ${a}, b: ${test} ? ${b} : undefined }, { onPartialFailure: 'continue' }).a`,
      ),
    fc
      .tuple(one, echoStep(known, depth - 1, withValue))
      .map(([first, second]) => `chain(${first}, (value) => ${second})`),
    fc
      .tuple(one, now.text(0))
      .map(
        ([step, list]) =>
          `attempt(${failing(step)}, (error) => ({ text: error.code, n: 0, list: [${list}] }))`,
      ),
    fc
      .tuple(now.text(0), one)
      .map(([text, step]) => `attempt(call(Broken, { text: ${text} }), () => ${step})`),
    one.map(
      (step) =>
        `attempt(chain(${step}, () => call(Broken)), (error) => chain(call(Echo, { text: error.code }), (value) => call(Echo, { text: value.text + error.message })))`,
    ),
  );
}

function textStep(known: readonly Known[], depth: number, locals: readonly Known[] = []): Source {
  const now = new Expressions(known, locals);
  const shout = now.text(1).map((text) => `shout(${text})`);
  if (depth === 0) return shout;
  return fc.oneof(
    shout,
    echoStep(known, depth - 1, locals).map((step) => `chain(${step}, (value) => value.text)`),
    shout.map((step) => `(this.note ?? ${step})`),
    fc.tuple(now.flag(1), now.text(0), shout).map(([test, a, b]) => `(${test} ? ${a} : ${b})`),
    textsStep(known, depth - 1, locals).map((step) => `chain(${step}, (texts) => texts.join(', '))`),
  );
}

function textsStep(known: readonly Known[], depth: number, locals: readonly Known[] = []): Source {
  const now = new Expressions(known, locals);
  const inside = [
    ...locals,
    { name: 'item', shape: 'text' as const },
    { name: 'place', shape: 'number' as const },
  ];
  const value = new Expressions(known, inside);
  const plain = fc
    .tuple(now.texts(1), value.text(1))
    .map(([list, text]) => `forEach(${list}, (item, place) => ${text})`);
  if (depth === 0) return plain;
  const options = fc.constantFrom('', ', { concurrency: 3 }', ", { onItemError: 'continue', max: 50 }");
  return fc.oneof(
    plain,
    now.texts(1).map((list) => `forEach(${list}, shout)`),
    fc
      .tuple(now.texts(1), textStep(known, depth - 1, inside), options)
      .map(([list, step, given]) => `forEach(${list}, (item, place) => ${step}${given})`),
    fc
      .tuple(now.texts(0), echoStep(known, depth - 1, inside))
      .map(([list, step]) => `forEach(${list}, (item, place) => chain(${step}, (value) => value.text))`),
  );
}

/** A second fallback around one that is a value is a fault, since the first cannot fail. */
function failing(step: string): string {
  return step.startsWith('attempt(') ? `chain(${step}, (value) => value)` : step;
}
