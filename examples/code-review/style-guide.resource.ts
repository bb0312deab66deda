import { Resource } from 'stepwright';

@Resource({ name: 'style-guide', description: 'How code should look', file: './style-guide.md' })
export class StyleGuide {
  static readonly uri = 'resource://code-review/style-guide';
}
