import { Arg, type ArgsOf, Prompt, type PromptMessages, prompt, user } from 'stepwright';
import { AnalyzeCode } from './analyze-code.tool.js';
import { StyleGuide } from './style-guide.resource.js';

@Prompt({ name: 'code-review', description: 'Review code' })
export class CodeReview {
  @Arg({ description: 'The code to review' }) code!: Arg<string>;
  @Arg({ description: 'Language of the code' }) language?: Arg<string>;

  render({ code, language = '' }: ArgsOf<CodeReview>): PromptMessages {
    return [
      user(prompt`Please review this ${language} code.
First call the tool \`${AnalyzeCode}\` with it.
Then judge it by ${StyleGuide}, and begin with what the tool has found.`),
      user(AnalyzeCode, StyleGuide),
      user(code),
    ];
  }
}
