/** `ArgsOf` and `ResultOf`, to the letter. A type that is not equal makes this file an error. */
import {
  Arg,
  type ArgsOf,
  attempt,
  call,
  chain,
  done,
  fail,
  link,
  type PromptText,
  prompt,
  type ResourceLink,
  type ResultOf,
  type Returned,
  read,
  Step,
  type VariablesOf,
  Workflow,
} from 'stepwright';
import { AddTask, type Greeting, ListPages, LogseqIntro, NormalizeProject, Page } from './world.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expect<T extends true> = T;

@Workflow({ name: 'w', description: 'w' })
class Full {
  @Arg({ description: 'a' }) text!: Arg<string>;
  @Arg({ description: 'a' }) flag!: Arg<boolean>;
  @Arg({ description: 'a' }) place!: Arg<'top' | 'bottom'>;
  @Arg({ description: 'a' }) list!: Arg<string[]>;
  @Arg({ description: 'a' }) shape!: Arg<{ a: string; b?: number[] }>;
  @Arg({ description: 'a' }) mixed!: Arg<string | number | null>;
  @Arg({ description: 'a' }) maybe?: Arg<string>;
  @Arg({ description: 'a' }) maybeNull?: Arg<boolean | null>;
  @Arg({ description: 'a', default: 1 }) count!: Arg<number, 'default'>;
  @Arg({ description: 'a', default: 'top' }) side!: Arg<'top' | 'bottom', 'default'>;
  @Arg({ description: 'a', default: null }) parent!: Arg<string | null, 'default'>;
  @Arg({ description: 'a', default: true }) quiet!: Arg<boolean, 'default'>;

  @Step() pages = call(ListPages);
  @Step() intro = read(LogseqIntro);
  @Step() nothing = undefined;
  @Step() never = fail('always');
  output = done({ pages: this.pages.pages, text: 'a' });
}

interface FullArguments {
  text: string;
  flag: boolean;
  place: 'top' | 'bottom';
  list: string[];
  shape: { a: string; b?: number[] };
  mixed: string | number | null;
  maybe?: string;
  maybeNull?: boolean | null;
  count?: number;
  side?: 'top' | 'bottom';
  parent?: string | null;
  quiet?: boolean;
}
export type FullArgsAreExact = Expect<Equal<ArgsOf<Full>, { [K in keyof FullArguments]: FullArguments[K] }>>;
export type FullResultIsExact = Expect<Equal<ResultOf<Full>, { pages: string[]; text: string }>>;

class None {
  unmarked!: string;
  loose!: ReturnType<typeof JSON.parse>;
  pages = call(ListPages);
}
export type NoArguments = Expect<Equal<keyof ArgsOf<None>, never>>;
export type NoResult = Expect<Equal<ResultOf<None>, undefined>>;

class Several {
  flag!: Arg<boolean>;
  early = this.flag ? done('early') : undefined;
  late = this.flag ? done({ id: 1 }) : done(['a']);
}
export type UnionOfResults = Expect<Equal<ResultOf<Several>, string | { id: number } | string[]>>;

class Mixed {
  flag!: Arg<boolean>;
  either = this.flag ? done('early') : call(ListPages);
  loose = JSON.parse('1');
  output = done(1);
}
export type ResultOfAnArm = Expect<Equal<ResultOf<Mixed>, string | number>>;

class Uncertain {
  flag!: Arg<boolean>;
  output = this.flag ? done('early') : undefined;
}
export type ResultMayBeMissing = Expect<Equal<ResultOf<Uncertain>, string | undefined>>;

class Echo {
  text!: Arg<string>;
  output = done(this.text);
}
export type ResultIsNoArgument = Expect<Equal<ResultOf<Echo>, string>>;

class DeepEcho {
  text!: Arg<string>;
  place!: Arg<'a' | 'b', 'default'>;
  maybe?: Arg<string[]>;
  output = done({ text: this.text, list: [{ place: this.place }], maybe: this.maybe, fixed: null });
}
export type ResultHasNoArguments = Expect<
  Equal<
    ResultOf<DeepEcho>,
    { text: string; list: { place: 'a' | 'b' }[]; maybe: string[] | undefined; fixed: null }
  >
>;

class Prompted {
  text = prompt`Use ${AddTask}`;
  output = done({ text: this.text, list: [this.text] });
}
export type PromptGivesText = Expect<Equal<Prompted['text'], PromptText & string>>;
export type ResultHasNoPromptText = Expect<Equal<ResultOf<Prompted>, { text: string; list: string[] }>>;

class Hidden {
  private secret!: Arg<string>;
  open!: Arg<number>;
  readonly fixed!: Arg<string>;
  declare output: Returned<{ a: 1 }>;
  peek = () => this.secret;
}
export type PrivateFieldsAreNoArguments = Expect<
  Equal<ArgsOf<Hidden>, { open: number; readonly fixed: string }>
>;
export type DeclaredResult = Expect<Equal<ResultOf<Hidden>, { a: 1 }>>;

// Inside a workflow an argument is a plain value.
declare const full: Full;
export const text: string = full.text;
export const place: 'top' | 'bottom' = full.place;
export const mixed: string | number | null = full.mixed;
export const shape: { a: string } = full.shape;
export const maybe: string | undefined = full.maybe;
export type CallGivesTheOutput = Expect<Equal<Full['pages'], { pages: string[] }>>;
export type ReadGivesText = Expect<Equal<Full['intro'], string>>;
export type FailGivesNothing = Expect<Equal<Full['never'], never>>;

export type ArgumentsOfAPrompt = Expect<Equal<ArgsOf<Greeting>, { whom: string }>>;

// The verbs give what is in them, never what is wanted of them.
class Verbs {
  flag!: Arg<boolean>;
  transformed = call(ListPages, {}, { transform: ({ pages }) => pages.at(0) });
  size = call(ListPages, {}, { transform: ({ pages }) => ({ size: pages.length, first: 'a' as const }) });
  never = call(ListPages, {}, { transform: (): never => fail('always') });
  untransformed = call(ListPages, {}, { timeoutMs: 1 });
  chained = chain(
    call(NormalizeProject, { input: 'a' }),
    (found) => call(AddTask, { project: found.name, task: 'b' }),
    (added) => [added.id],
  );
  conditional = this.flag ? chain(call(ListPages), ({ pages }) => pages.length) : undefined;
  tried = attempt(call(AddTask, { project: 'a', task: 'b' }), (error) => error.attempts);
  page = read(Page, { name: 'a' });
  linked = link(Page, { name: 1 });
}
export type TransformGives = Expect<Equal<Verbs['transformed'], string | undefined>>;
export type TransformGivesObjects = Expect<Equal<Verbs['size'], { size: number; first: 'a' }>>;
export type TransformGivesNothing = Expect<Equal<Verbs['never'], never>>;
export type OptionsChangeNoType = Expect<Equal<Verbs['untransformed'], { pages: string[] }>>;
export type ChainGivesTheLast = Expect<Equal<Verbs['chained'], string[]>>;
export type ChainUnderACondition = Expect<Equal<Verbs['conditional'], number | undefined>>;
export type AttemptGivesEither = Expect<Equal<Verbs['tried'], number | { id: string }>>;
export type TemplateGivesText = Expect<Equal<Verbs['page'], string>>;
export type LinkGivesALink = Expect<Equal<Verbs['linked'], ResourceLink>>;
export type VariablesOfATemplate = Expect<
  Equal<VariablesOf<'a://{b}/{+c}x{#d}/{b}'>, { readonly b: string; readonly c: string; readonly d: string }>
>;
export type NoVariables = Expect<Equal<keyof VariablesOf<'a://b'>, never>>;
