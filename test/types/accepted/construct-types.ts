/** The values of constructs, to the letter. A type that is not equal makes this file an error. */
import {
  type Arg,
  ask,
  attempt,
  call,
  type FailedBranch,
  forEach,
  get,
  goto,
  match,
  parallel,
  type ResultOf,
  run,
  set,
  wait,
} from 'stepwright';
import { ActiveProject, AddLine, AddTask, Classify, ListPages, RemoveTask } from './world.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expect<T extends true> = T;

interface Pages {
  pages: string[];
}

class Steps {
  text!: Arg<string>;
  flag!: Arg<boolean>;
  where!: Arg<'top' | 'bottom'>;
  labels!: Arg<string[]>;

  body = call(Classify, { task: 'a' });
  undone = call(AddTask, { project: 'a', task: 'b' }, { compensate: ({ id }) => call(RemoveTask, { id }) });
  undoneText = call(
    AddTask,
    { project: 'a', task: 'b' },
    { compensate: (out) => call(RemoveTask, { id: out.id }), transform: ({ id }) => id },
  );

  told = ask.info('a');
  sure = ask.confirm('a');
  note = ask.text('a');
  choice = ask.choice('a', ['top', 'bottom']);
  choiceOfTexts = ask.choice('a', this.body.lines);
  choiceWithArgument = ask.choice('a', ['top', this.where]);
  picked = ask.pick('a', [{ id: 1 }], ({ id }) => `${id}`);
  pickedArgument = ask.pick('a', [this.text], (text) => text);

  routed = match(this.body.kind, { bug: call(ListPages), feature: run(AddLine, { line: 'a' }) });
  routedByArgument = match(this.where, { top: this.text, bottom: undefined });
  routedByNumber = match(this.body.urgency, { 1: 'a', 2: call(ListPages) });

  both = parallel({ a: call(ListPages), b: this.flag ? 'b' : undefined });
  bothArguments = parallel({ a: this.text, b: this.flag });
  rolledBack = parallel({ a: call(ListPages) }, { onPartialFailure: 'rollback', concurrency: 1 });
  continued = parallel(
    { a: call(ListPages), b: this.text, c: this.flag ? call(ListPages) : undefined, d: { error: 'a' } },
    { onPartialFailure: 'continue' },
  );

  lines = forEach(this.labels, (label) => run(AddLine, { line: label }));
  maybes = forEach(this.labels, (label, index) => (index > 1 ? label : undefined));
  nothings = forEach(this.labels, () => wait({ seconds: 1 }));
  continuedLines = forEach(this.labels, () => call(ListPages), { onItemError: 'continue' });
  failingLines = forEach(this.labels, () => call(ListPages), { onItemError: 'fail', max: 1 });
  argumentsOfItems = forEach(this.labels, () => this.text);

  sub = run(AddLine, { line: 'a', project: this.text }, { id: 'sub', timeoutMs: 5 });
  caught = attempt(parallel({ a: call(ListPages) }), () => call(ListPages));
  saved = set(ActiveProject, this.text);
  current = get(ActiveProject);
  paused = wait({ hours: 1, days: 2 });
  again = this.flag ? goto(this.body, { max: 3 }) : undefined;
}

type S = Steps;
type UnfailedPages = Pages & { readonly error?: undefined };

export type CompensationChangesNoType = Expect<Equal<S['undone'], { id: string }>>;
export type CompensationBesideATransform = Expect<Equal<S['undoneText'], string>>;

export type InfoGivesNothing = Expect<Equal<S['told'], undefined>>;
export type ConfirmGivesAFlag = Expect<Equal<S['sure'], boolean>>;
export type TextGivesText = Expect<Equal<S['note'], string>>;
export type ChoiceGivesItsOptions = Expect<Equal<S['choice'], 'top' | 'bottom'>>;
export type ChoiceOfTexts = Expect<Equal<S['choiceOfTexts'], string>>;
export type ChoiceIsNoArgument = Expect<Equal<S['choiceWithArgument'], 'top' | 'bottom'>>;
export type PickGivesTheItem = Expect<Equal<S['picked'], { id: number }>>;
export type PickIsNoArgument = Expect<Equal<S['pickedArgument'], string>>;

export type MatchGivesItsArms = Expect<Equal<S['routed'], Pages | { added: string }>>;
export type MatchIsNoArgument = Expect<Equal<S['routedByArgument'], string | undefined>>;
export type MatchOfNumbers = Expect<Equal<S['routedByNumber'], string | Pages>>;

export type ParallelGivesItsBranches = Expect<Equal<S['both'], { a: Pages; b: string | undefined }>>;
export type BranchesAreNoArguments = Expect<Equal<S['bothArguments'], { a: string; b: boolean }>>;
export type RollbackChangesNoType = Expect<Equal<S['rolledBack'], { a: Pages }>>;
export type ContinueGivesFailures = Expect<
  Equal<
    S['continued'],
    {
      a: UnfailedPages | FailedBranch;
      b: string | FailedBranch;
      c: UnfailedPages | FailedBranch | undefined;
      d: { error: string } | FailedBranch;
    }
  >
>;

export type ForEachGivesAList = Expect<Equal<S['lines'], { added: string }[]>>;
export type AbsentItemsAreNull = Expect<Equal<S['maybes'], (string | null)[]>>;
export type NothingIsNull = Expect<Equal<S['nothings'], null[]>>;
export type FailedItemsAreNull = Expect<Equal<S['continuedLines'], (Pages | null)[]>>;
export type FailingItemsAreNot = Expect<Equal<S['failingLines'], Pages[]>>;
export type ItemsAreNoArguments = Expect<Equal<S['argumentsOfItems'], string[]>>;

export type RunGivesTheResult = Expect<Equal<S['sub'], ResultOf<AddLine>>>;
export type AttemptGivesEither = Expect<Equal<S['caught'], { a: Pages } | Pages>>;
export type SetGivesWhatItWrites = Expect<Equal<S['saved'], string>>;
export type GetGivesTheState = Expect<Equal<S['current'], string>>;
export type WaitGivesNothing = Expect<Equal<S['paused'], undefined>>;
export type GotoGivesNothing = Expect<Equal<S['again'], undefined>>;
