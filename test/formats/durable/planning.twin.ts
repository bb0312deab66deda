import {
  Agent,
  Arg,
  ask,
  call,
  chain,
  delegate,
  done,
  forEach,
  get,
  jinja,
  onClient,
  run,
  State,
  Step,
  set,
  Tool,
  Workflow,
} from 'stepwright';

/** The workflow of `interactive-planning.yaml` as classes. */

interface SearchResults {
  urls: string[];
}

@Tool({ name: 'web_search', description: 'Searches the web', visibility: 'workflow' })
export class WebSearch {
  execute(_input: { query: string; max_results: number }): SearchResults {
    return { urls: [] };
  }
}

@Tool({ name: 'analyze_text', description: 'Analyzes a text', visibility: 'workflow' })
export class AnalyzeText {
  execute(_input: { text: string; task: string }): { result: string } {
    return { result: '' };
  }
}

@Tool({ name: 'save_to_memory', description: 'Keeps a value', visibility: 'workflow' })
export class SaveToMemory {
  execute(_input: { key: string; value: unknown }): { saved: boolean } {
    return { saved: false };
  }
}

@Agent({ name: '@task' })
class Task {}

@Agent({ name: '@code-standards-reviewer' })
class CodeStandardsReviewer {}

interface Finding {
  task: string;
  findings: string;
  sources_count: number;
}

@State({ name: 'user_request', scope: 'workflow', initial: null })
class UserRequest {
  value!: { input: string } | null;
}

@State({ name: 'research_task_list', scope: 'workflow' })
class ResearchTaskList {
  value!: { response: string } | undefined;
}

@State({ name: 'research_tasks', scope: 'workflow', initial: [] })
class ResearchTasks {
  value!: string[];
}

@State({ name: 'task_count', scope: 'workflow' })
class TaskCount {
  value!: number | undefined;
}

@State({ name: 'research_results', scope: 'workflow', initial: [] })
class ResearchResults {
  value!: Finding[];
}

@State({ name: 'initial_plan', scope: 'workflow', initial: null })
class InitialPlan {
  value!: { response: string } | null;
}

@State({ name: 'review', scope: 'workflow', initial: null })
class Review {
  value!: { response: string } | null;
}

@State({ name: 'final_plan', scope: 'workflow', initial: null })
class FinalPlan {
  value!: { response: string } | null;
}

@State({ name: 'user_approval', scope: 'workflow' })
class UserApproval {
  value!: { confirmed: boolean } | undefined;
}

@State({ name: 'saved_plan', scope: 'workflow' })
class SavedPlan {
  value!: { saved: boolean } | undefined;
}

@State({ name: 'approved', scope: 'workflow', initial: false })
class Approved {
  value!: boolean;
}

@State({ name: 'status', scope: 'workflow' })
class Status {
  value!: string | undefined;
}

@State({ name: 'search_results', scope: 'workflow', initial: null })
class Results {
  value!: SearchResults | null;
}

@State({ name: 'analysis', scope: 'workflow', initial: null })
class Analysis {
  value!: { result: string } | null;
}

@State({ name: 'saved', scope: 'workflow' })
class Saved {
  value!: { saved: boolean } | undefined;
}

@Workflow({ name: 'research_topic', description: 'research topic' })
export class ResearchTopic {
  @Arg({ name: 'research_task', description: 'research task' }) researchTask!: Arg<string>;

  @Step({ id: 'search-web' }) found = onClient(
    call(WebSearch, { query: jinja`{{ ${this.researchTask} }}`, max_results: 5 }, { writes: Results }),
  );

  @Step({ id: 'analyze-results' }) analyzed = onClient(
    call(
      AnalyzeText,
      {
        text: jinja`{{ ${get(Results)} | tojson }}`,
        task: jinja`Analyze these search results for: {{ ${this.researchTask} }}
Extract key insights, best practices, and actionable recommendations.
Focus on practical, implementation-ready information.
`,
      },
      { writes: Analysis },
    ),
  );

  @Step({ id: 'save-research' }) saved = onClient(
    call(
      SaveToMemory,
      {
        key: jinja`research_{{ ${this.researchTask} | hash }}`,
        value: {
          task: jinja`{{ ${this.researchTask} }}`,
          sources: jinja`{{ ${get(Results)}.urls | default([]) }}`,
          analysis: jinja`{{ ${get(Analysis)}.result }}`,
          timestamp: jinja`{{ now().isoformat() }}`,
        },
      },
      { writes: Saved },
    ),
  );

  @Step({ id: 'return-findings' }) output = done({
    task: jinja`{{ ${this.researchTask} }}`,
    findings: jinja`{{ ${get(Analysis)}.result }}`,
    sources_count: jinja<number>`{{ ${get(Results)}.urls | length | default(0) }}`,
  });
}

@Workflow({
  name: 'interactive-planning',
  version: '1.0.0',
  domain: 'default',
  description: 'MVP workflow for AI-assisted project planning with research and review',
})
export class InteractivePlanning {
  @Arg({ name: 'max_research_tasks', description: 'max research tasks', default: 5, min: 1, max: 10 })
  maxResearchTasks!: Arg<number, 'default'>;

  @Step({ id: 'get-user-request' }) request = ask.text('What would you like to plan today?', {
    writes: UserRequest,
  });

  @Step({ id: 'generate-research-tasks' }) taskList = delegate(
    null,
    jinja`The user wants to: {{ ${get(UserRequest)}.input }}

Break this down into specific research tasks that need to be investigated.
Generate up to {{ ${this.maxResearchTasks} }} focused research questions.

IMPORTANT: Return your response as a valid JSON array of strings.
Example format: ["Research task 1", "Research task 2", ...]

For the user's request about implementing auth in Next.js, you might generate:
["Research Next.js authentication best practices",
 "Compare JWT vs session-based authentication",
 "Investigate OAuth providers for Next.js",
 "Research middleware patterns for route protection",
 "Find examples of production Next.js auth implementations"]
`,
    { writes: ResearchTaskList },
  );

  @Step({ id: 'parse-tasks' }) tasks = set(
    ResearchTasks,
    jinja<string[]>`{{ ${get(ResearchTaskList)}.response | parse_json }}`,
  );
  @Step({ id: 'count-tasks' }) count = set(
    TaskCount,
    jinja<number>`{{ ${get(ResearchTaskList)}.response | parse_json | length }}`,
  );

  @Step({ id: 'execute-research' }) research = forEach(
    jinja<string[]>`{{ ${get(ResearchTasks)} }}`,
    (item) => run(ResearchTopic, { researchTask: item }),
    { agent: Task, onItemError: 'settle', writes: ResearchResults },
  );

  @Step({ id: 'generate-initial-plan' }) initialPlan = delegate(
    null,
    jinja`Based on the research results, create a detailed implementation plan.

User request: {{ ${get(UserRequest)}.input }}

Research findings:
{% for result in ${get(ResearchResults)} %}
Task: {{ result.task }}
Key findings: {{ result.findings }}
---
{% endfor %}

Generate a comprehensive, step-by-step implementation plan that includes:
1. Overview and approach
2. Technical architecture decisions
3. File structure and components needed
4. Implementation steps with code examples
5. Testing strategy
6. Security considerations
7. Performance optimizations
8. Deployment considerations

Format as markdown for easy reading.
`,
    { writes: InitialPlan },
  );

  @Step({ id: 'review-plan' }) review = delegate(
    CodeStandardsReviewer,
    jinja`You are a senior architect reviewing an implementation plan.
Review this plan for quality, completeness, and best practices.

Original request: {{ ${get(UserRequest)}.input }}

Proposed plan:
{{ ${get(InitialPlan)}.response }}

Provide a thorough review covering:
- Security vulnerabilities or concerns
- Performance bottlenecks
- Scalability issues
- Code quality and maintainability
- Missing considerations
- Compliance with industry standards
- Specific improvements needed

Be constructive but thorough in your critique.
`,
    { writes: Review },
  );

  @Step({ id: 'finalize-plan' }) finalPlan = delegate(
    null,
    jinja`Update the implementation plan based on the review feedback.

Original plan:
{{ ${get(InitialPlan)}.response }}

Review feedback:
{{ ${get(Review)}.response }}

Create the final, improved plan that:
1. Addresses all concerns raised in the review
2. Incorporates suggested improvements
3. Maintains clarity and actionability
4. Highlights what changed from the initial plan

Format as markdown with a "Changes from Initial Plan" section at the top.
`,
    { writes: FinalPlan },
  );

  @Step({ id: 'approve-plan' }) approval = ask.confirm(
    jinja`Here's your implementation plan for: {{ ${get(UserRequest)}.input }}

{{ ${get(FinalPlan)}.response }}

Would you like to proceed with this plan?
`,
    { writes: UserApproval },
  );

  @Step({ id: 'save-if-approved' }) decided = jinja<boolean>`{{ ${get(UserApproval)}.confirmed }}`
    ? chain(
        onClient(
          call(
            SaveToMemory,
            {
              key: jinja`plan_{{ ${get(UserRequest)}.input | hash }}`,
              value: {
                request: jinja`{{ ${get(UserRequest)}.input }}`,
                plan: jinja`{{ ${get(FinalPlan)}.response }}`,
                approved_at: jinja`{{ now().isoformat() }}`,
              },
            },
            { id: 'save-plan', writes: SavedPlan },
          ),
        ),
        () => set(Approved, true),
        () => set(Status, 'Plan approved and saved'),
      )
    : chain(set(Approved, false), () => set(Status, 'Plan rejected by user'));
}
