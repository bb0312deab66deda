import { runText } from '../../../print/runs.js';
import { runsTexts } from '../../runs-texts.js';
import { STORE_OPTIONS, storeCommand, withRun } from './store-command.js';

const NAME = 'stepwright runs show';

/** `stepwright runs show RUN`: shows a run of a store. */
export const showRun = storeCommand(
  NAME,
  runsTexts.showHelp,
  STORE_OPTIONS,
  1,
  (path, { values, args }, output) =>
    withRun(path, args[0], NAME, output, ({ run }) => {
      output.out(values.json ? `${JSON.stringify(run.view, null, 2)}\n` : runText(run.view));
      return 0;
    }),
);
