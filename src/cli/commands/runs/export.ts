import type { JsonObject } from '../../../graph/json.js';
import { runsTexts } from '../../runs-texts.js';
import { eventsOf } from './events.js';
import { STORE_OPTIONS, storeCommand, withRun } from './store-command.js';

const NAME = 'stepwright runs export';

/** `stepwright runs export RUN`: prints a run with its log and its graph. */
export const exportRun = storeCommand(
  NAME,
  runsTexts.exportHelp,
  STORE_OPTIONS,
  1,
  (path, { args }, output) =>
    withRun(path, args[0], NAME, output, (found, reader) => {
      const events: JsonObject[] = [...eventsOf(found, reader, 1, found.head.seq)];
      const { view, graph } = found.run;
      output.out(`${JSON.stringify({ ...view, graph, events }, null, 2)}\n`);
      return 0;
    }),
);
