import { Resource } from 'stepwright';

@Resource({ name: 'greeting-guide', description: 'How we greet', file: './guide.md' })
export class GreetingGuide {
  static readonly uri = 'resource://greetings/guide';
}
