import { jsonText } from '../../catalogue/encode-text.js';
import type { RunState } from '../../engine/contract.js';
import { inputOf } from '../../engine/read.js';
import { limited, sized } from './block.js';
import { constructTexts } from './construct-texts.js';
import { SingleLog } from './container-log.js';
import type { FactOf } from './step-log.js';
import { texts } from './texts.js';

/** What another workflow is given, what happens in it, and what it gives back. */
export class WorkflowLog extends SingleLog {
  protected override started(state: RunState): void {
    const { node } = this;
    if (node.kind !== 'workflow') return;
    // A workflow that was over at once has left nothing behind.
    const given = inputOf(state, this.instance.key);
    if (given === undefined) {
      this.say('assistant', 'group', constructTexts.workflow(node.id, node.workflow, undefined, undefined));
      return;
    }
    const shown = this.secrets.handedTo(given, this.instance);
    const { text, size } = limited(jsonText(shown, 2));
    this.say('assistant', 'group', constructTexts.workflow(node.id, node.workflow, text, size), sized(size));
  }

  protected override succeeded({ summary, value }: FactOf<'nodeSucceeded'>): void {
    this.closeParts();
    const { node } = this;
    if (node.kind !== 'workflow') return;
    if (summary !== undefined) {
      const { text, size } = limited(jsonText(this.secrets.text(summary)));
      this.say('user', 'result', texts.summary(text, size), { 'stepwright/summary': true, ...sized(size) });
    } else if (value === undefined || value === null) {
      this.say('user', 'result', constructTexts.workflowDone(node.id, node.workflow));
    } else {
      const { text, size } = limited(jsonText(this.secrets.output(value, this.instance), 2));
      this.say(
        'user',
        'result',
        constructTexts.workflowResult(node.id, node.workflow, text, size),
        sized(size),
      );
    }
  }
}
