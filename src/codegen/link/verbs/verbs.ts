import type { CallSyntax, StepVerb } from '../../verbs.js';
import type { StepOutcome } from '../nodes.js';
import { linkAttempt } from './attempt.js';
import { linkCall, linkRead, linkRun, linkSet } from './calls.js';
import { linkChain, linkDone, linkFail, linkMatch, linkParallel } from './control-flow.js';
import type { Linker } from './linker.js';
import { linkForEach, linkGoto } from './loops.js';
import { linkAsk, linkWait } from './waiting.js';

type LinkVerb = (linker: Linker, call: CallSyntax) => StepOutcome | undefined;

const VERBS: Readonly<Record<StepVerb, LinkVerb>> = {
  call: linkCall,
  read: linkRead,
  run: linkRun,
  fail: linkFail,
  done: linkDone,
  chain: linkChain,
  attempt: linkAttempt,
  match: linkMatch,
  parallel: linkParallel,
  forEach: linkForEach,
  set: linkSet,
  goto: linkGoto,
  wait: linkWait,
  'ask.info': (linker, call) => linkAsk(linker, 'info', call),
  'ask.confirm': (linker, call) => linkAsk(linker, 'confirm', call),
  'ask.text': (linker, call) => linkAsk(linker, 'text', call),
  'ask.choice': (linker, call) => linkAsk(linker, 'choice', call),
  'ask.pick': (linker, call) => linkAsk(linker, 'pick', call),
};

/** The outcome of a verb's call; nothing if a part of it was reported. */
export function linkVerb(linker: Linker, verb: StepVerb, call: CallSyntax): StepOutcome | undefined {
  return VERBS[verb](linker, call);
}
