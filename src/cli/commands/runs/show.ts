import { runText } from '../../../print/runs.js';
import type { Definitions } from '../../../runtime/server/definitions.js';
import { runsTexts } from '../../runs-texts.js';
import { changeSince, DEFINITION_OPTIONS, namesRegistry, withDefinitions } from './definitions.js';
import { storeCommand, withRun } from './store-command.js';

const NAME = 'stepwright runs show';

/** `stepwright runs show RUN`: shows a run of a store. */
export const showRun = storeCommand(
  NAME,
  runsTexts.showHelp,
  DEFINITION_OPTIONS,
  1,
  (path, { values, args }, output) => {
    const show = (definitions?: readonly Definitions[]): Promise<number> =>
      withRun(path, args[0], NAME, output, ({ run, graph, head }) => {
        const change = definitions === undefined ? {} : changeSince(definitions, graph, head.graph);
        const view = { ...run.view, ...change };
        output.out(values.json ? `${JSON.stringify(view, null, 2)}\n` : runText(view));
        return 0;
      });
    return namesRegistry(values) ? withDefinitions('runs show', values, output, show) : show();
  },
);
