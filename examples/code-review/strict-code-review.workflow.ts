import { Arg, call, done, Step, Workflow } from 'stepwright';
import { AnalyzeCode } from './analyze-code.tool.js';
import { StyleGuide } from './style-guide.resource.js';

@Workflow({ name: 'strict-code-review', description: 'review code', instructions: [StyleGuide] })
export class StrictCodeReview {
  @Arg({ description: 'The code to review', minLength: 1 }) code!: Arg<string>;
  @Arg({ description: 'Language of the code', default: 'source' }) language!: Arg<string, 'default'>;

  @Step({ guidance: 'Judge the {language} code by the style guide, and begin with what the tool finds.' })
  analysis = call(AnalyzeCode, { code: this.code });

  @Step() warnings = this.analysis.findings.filter((finding) => finding.severity === 'warning');

  output = done({
    verdict: this.warnings.length > 0 ? 'needs work' : 'nothing that a look at the text would show',
    warnings: this.warnings.map((finding) => `line ${finding.line}: ${finding.message}`),
  });
}
