import { Resource } from 'stepwright';

@Resource({ name: 'travel-rules', description: 'What the agency does, and when', file: './travel-rules.md' })
export class TravelRules {
  static readonly uri = 'resource://travel/rules';
}
