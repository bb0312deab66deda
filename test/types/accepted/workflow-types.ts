/** `ArgsOf` and `ResultOf`, to the letter. A type that is not equal makes this file an error. */
import {
  Arg,
  type ArgsOf,
  call,
  done,
  fail,
  type ResultOf,
  type Returned,
  read,
  Step,
  Workflow,
} from 'stepwright';
import { ListPages, LogseqIntro } from './world.js';

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
