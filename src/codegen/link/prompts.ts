import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Declarations, LinkedPrompt, Phase } from '../declarations.js';
import { linkInput } from './inputs.js';

/** Makes the arguments of every prompt what a caller is told of them. Those at fault are left out, and reported. */
export function linkPrompts({ prompts }: Pick<Declarations, 'prompts'>): Phase<readonly LinkedPrompt[]> {
  const diagnostics: Diagnostic[] = [];
  const value = prompts.map(
    (declaration): LinkedPrompt => ({
      declaration,
      arguments: declaration.args.flatMap(
        (arg) => linkInput(arg, (fault) => void diagnostics.push(fault)) ?? [],
      ),
    }),
  );
  return { value, diagnostics };
}
