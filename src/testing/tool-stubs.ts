import type { ToolContext } from '../decorators/context.js';
import { nearestName, withSuggestion } from '../graph/names.js';
import { sampleResult } from '../runtime/runs/operate/stubs.js';
import type { AnyClass, Registry, ToolEntry } from '../runtime/tools/registry.js';

type InstanceOf<C extends AnyClass> = C extends abstract new (...args: never[]) => infer I ? I : never;

type OutputOf<I> = I extends { execute(...args: never[]): infer Output } ? Awaited<Output> : unknown;

type InputOf<I> = I extends { execute(input: infer Input, ...rest: never[]): unknown } ? Input : unknown;

/** What answers in the place of a tool, with the types of its class. */
type ToolStub<I> =
  /** Gets the input, the context, and which call of the tool it is, counted from 1. */
  | ((input: InputOf<I>, context: ToolContext, call: number) => OutputOf<I> | Promise<OutputOf<I>>)
  /** The result of each call; the last one is repeated. A call whose result is an `Error` fails with it. */
  | readonly (OutputOf<I> | Error)[];

/** Stubs by the name of the tool. */
export type ToolStubs<R extends Registry> = {
  readonly [N in keyof R['tools']]?: ToolStub<InstanceOf<R['tools'][N]['class']>>;
};

/** What tools without a stub do: their own work, a value made up from the output schema, or refuse each call. */
export type OtherTools = 'real' | 'sample' | 'refuse';

type AnyStub = ToolStub<{ execute(input: unknown, context: ToolContext): unknown }>;

/** A tool in the place of an instance of its class. */
interface Instance {
  execute(input: unknown, context: ToolContext): unknown;
}

/**
 * Factories that put stubs in the place of the instances of tools. They count calls across restarts of a server.
 *
 * @param factories those of the test, for tools that do their own work.
 * @throws TypeError for a stub of a tool that the registry does not have.
 */
export function stubFactories(
  { tools }: Registry,
  stubs: Readonly<Record<string, unknown>>,
  others: OtherTools,
  factories: object = {},
): Readonly<Record<string, () => Instance>> {
  const names = Object.keys(tools);
  for (const name of Object.keys(stubs))
    if (!names.includes(name))
      throw new TypeError(withSuggestion(`There is no tool '${name}' to stub`, nearestName(name, names)));
  return Object.fromEntries(
    Object.entries(tools).flatMap(([name, entry]) => {
      const other = Object.hasOwn(factories, name) ? undefined : otherStub(name, entry, others);
      const stub = Object.hasOwn(stubs, name) ? (stubs[name] as AnyStub) : other;
      if (stub === undefined) return [];
      const instance = instanceOf(name, stub);
      return [[name, () => instance] as const];
    }),
  );
}

function otherStub(name: string, entry: ToolEntry, others: OtherTools): AnyStub | undefined {
  if (others === 'real' && entry.class.length === 0) return undefined;
  const sample = others === 'sample' ? sampleResult(entry) : undefined;
  if (sample !== undefined) return [sample];
  const why = { real: ': its class needs a factory', sample: ': it has no output schema', refuse: '' }[
    others
  ];
  return [
    new Error(
      `Tool '${name}' is not called in tests${why}. Give the test a stub: tools: { '${name}': () => … }`,
    ),
  ];
}

/** @throws TypeError for a stub that is neither a function nor a list with a result. */
function instanceOf(name: string, stub: AnyStub): Instance {
  if (typeof stub !== 'function' && !Array.isArray(stub))
    throw new TypeError(
      `The stub of '${name}' is ${stub === null ? 'null' : `of type ${typeof stub}`}: write a function, or a list of results: tools: { '${name}': [result] }`,
    );
  if (stub.length === 0 && typeof stub !== 'function')
    throw new TypeError(
      `The stub of '${name}' is a list without a result: write tools: { '${name}': [result] }`,
    );
  let calls = 0;
  return {
    async execute(input, context) {
      calls += 1;
      if (typeof stub === 'function') return stub(input, context, calls);
      const result = stub[calls - 1] ?? stub.at(-1);
      if (result instanceof Error) throw result;
      return result;
    },
  };
}
