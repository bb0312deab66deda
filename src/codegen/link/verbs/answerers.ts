import { type Answerer, answererKey, isRole } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { AskNode } from '../../../graph/model.js';
import { readStatic } from '../../extract/read-options.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { symbolOf, unwrap } from '../../verbs.js';
import { describeGiven } from '../describe.js';
import type { VerbOptions } from '../options.js';
import { type Linker, refuse } from './linker.js';

const EXAMPLES = "`role('lead')`, `owner()`, or a list of them";

type Reader = Pick<Linker, 'scope'>;

/** The options of a question about who answers it; undefined where one has a fault, which is reported. */
export function answeringOf(
  linker: Reader,
  { values, syntax }: VerbOptions,
): Pick<AskNode, 'answerBy' | 'remindAfterMs' | 'escalateTo'> | undefined {
  const answerBy = answerersOf(linker, syntax.answerBy);
  const escalateTo = answerersOf(linker, syntax.escalateTo);
  if (answerBy === 'faulty' || escalateTo === 'faulty') return undefined;
  const { remindAfterMs } = values;
  return {
    ...defined({ answerBy, escalateTo }),
    ...(typeof remindAfterMs === 'number' ? { remindAfterMs } : {}),
  };
}

function answerersOf(
  linker: Reader,
  syntax: ExpressionSyntax | undefined,
): readonly Answerer[] | 'faulty' | undefined {
  const argument = syntax && unwrap(syntax);
  if (argument === undefined || argument.kind === 'undefined') return undefined;
  const items = argument.kind === 'array' ? argument.items : [{ value: argument, spread: false }];
  if (items.length === 0) {
    refuseAnswerers(linker, argument, 'the list of who may answer is empty');
    return 'faulty';
  }
  const reading = items.map((item) =>
    item.spread
      ? refuse(
          linker,
          item.value.place,
          'a spread among who may answer',
          `write them one by one: ${EXAMPLES}`,
        )
      : readAnswerer(linker, item.value),
  );
  if (!reading.every((each) => each !== undefined)) return 'faulty';
  return [...new Map(reading.map((each) => [answererKey(each), each])).values()];
}

function readAnswerer(linker: Reader, argument: ExpressionSyntax): Answerer | undefined {
  const syntax = unwrap(argument);
  const call = syntax.kind === 'call' ? syntax : undefined;
  const symbol = call && symbolOf(unwrap(call.callee));
  const name = symbol?.kind === 'stepwright' ? symbol.name : undefined;
  if (call === undefined || (name !== 'owner' && name !== 'role')) {
    const params = { taker: '`answerBy`', takes: 'who may answer', actual: describeGiven(syntax) };
    const hint = `write ${EXAMPLES}, here`;
    linker.scope.report(diagnostic('SW2008', syntax.place, params, { hint }));
    return undefined;
  }
  return name === 'owner' ? { kind: 'owner' } : readRole(linker, call.args, syntax);
}

function readRole(
  linker: Reader,
  [name, options]: readonly ExpressionSyntax[],
  { place }: ExpressionSyntax,
): Answerer | undefined {
  const reading = name && readStatic(name);
  if (name === undefined || reading?.ok === false)
    return refuse(
      linker,
      name?.place ?? place,
      'a role that is not a literal',
      "write its name: `role('lead')`",
    );
  const role = reading?.value;
  if (!isRole(role)) {
    const problem = `${JSON.stringify(role)} is not a role: a role is 1 to 128 printable characters without quotes`;
    return refuseAnswerers(linker, name, problem);
  }
  const except = options === undefined ? {} : readExcept(linker, options);
  return except && { kind: 'role', role, ...except };
}

/** `{ except: owner() }`. */
function readExcept(linker: Reader, argument: ExpressionSyntax): { readonly except?: 'owner' } | undefined {
  const syntax = unwrap(argument);
  if (syntax.kind === 'undefined') return {};
  const entries = syntax.kind === 'object' ? syntax.entries : undefined;
  const [entry, ...others] = entries ?? [];
  if (entries !== undefined && entry === undefined) return {};
  if (entry === undefined || others.length > 0 || !('value' in entry) || entry.key !== 'except')
    return refuse(linker, syntax.place, 'these options of a role', 'write `{ except: owner() }`');
  if (entry.value.kind === 'undefined') return {};
  const answerer = readAnswerer(linker, entry.value);
  if (answerer === undefined) return undefined;
  if (answerer.kind === 'owner') return { except: 'owner' };
  return refuse(linker, entry.value.place, 'a role that is excepted', 'write `{ except: owner() }`');
}

/** Reports answerers that no caller can be. */
function refuseAnswerers({ scope }: Reader, { place }: ExpressionSyntax, problem: string): undefined {
  scope.report(diagnostic('SW4039', place, { step: scope.id, problem }));
  return undefined;
}
