import type { Graph } from '../../graph/model.js';
import { chartOf } from '../../print/chart/chart.js';
import { printPage, shownStates } from '../../print/chart/page.js';

import { printSvg } from '../../print/chart/svg.js';
import type { Output } from '../command-line.js';
import { withRun, withStore } from './runs/store-command.js';

/** A run of a store to draw. */
interface GraphRun {
  readonly run: string;
  readonly store: string | undefined;
  readonly format: 'svg' | 'html';
  readonly hash: (text: string) => string;
}

const NAME = 'stepwright graph --run';

/** `stepwright graph --run RUN`: prints the workflow that a run of a store was started on, with the states of the run. */
export function graphRun({ run: name, store, format, hash }: GraphRun, output: Output): Promise<number> {
  return withStore(store, NAME, (opened) =>
    withRun(opened, name, NAME, output, async ({ head, run }, reader) => {
      const states = shownStates(run.states(await reader.entries(head, 1, head.seq)));
      const { run: ref, status, started_at, ended_at } = run.view;
      const times = ended_at === undefined ? `started ${started_at}` : `${started_at} to ${ended_at}`;
      const text = `run ${ref}: ${status}, ${times}`;
      const chart = chartOf(run.graph as unknown as Graph);
      output.out(
        format === 'svg'
          ? printSvg(chart, { states })
          : printPage([{ chart, run: { text, states } }], { title: text, hash }),
      );
      return 0;
    }),
  );
}
