import { Resource } from 'stepwright';

@Resource({
  name: 'logseq-intro',
  description: 'How the graph is laid out, and what to do after a run',
  file: './intro.md',
})
export class LogseqIntro {
  static readonly uri = 'resource://logseq/intro';
}
