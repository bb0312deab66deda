import { Arg, call, done, Step, Workflow } from 'stepwright';
import { Greet } from './greet.tool.js';
import { GreetingGuide } from './greeting-guide.resource.js';

@Workflow({
  name: 'personalized-greeting',
  description: 'generate a personalized greeting',
  instructions: [GreetingGuide],
})
export class PersonalizedGreeting {
  @Arg({ description: "Person's name" }) name!: Arg<string>;
  @Arg({ description: 'Greeting style' }) style?: Arg<'formal' | 'casual'>;

  @Step() greeting = call(Greet, { name: this.name, style: this.style });

  output = done(this.greeting.greeting);
}
