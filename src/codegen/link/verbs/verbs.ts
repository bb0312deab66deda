import type { CallSyntax, StepVerb } from '../../verbs.js';
import type { StepOutcome } from '../outcome.js';
import { linkAsk } from './ask.js';
import { linkAttempt } from './attempt.js';
import { linkCall } from './call.js';
import { linkChain } from './chain.js';
import { linkDone, linkFail } from './fail.js';
import { linkForEach } from './for-each.js';
import { linkGoto } from './goto.js';
import type { Linker } from './linker.js';
import { linkMatch } from './match.js';
import { linkParallel } from './parallel.js';
import { linkRead } from './read.js';
import { linkRun } from './run.js';
import { linkSet } from './set.js';
import { linkWait } from './wait.js';

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

/** What the call of a verb makes; nothing where a part of it was reported. */
export function linkVerb(linker: Linker, verb: StepVerb, call: CallSyntax): StepOutcome | undefined {
  return VERBS[verb](linker, call);
}
