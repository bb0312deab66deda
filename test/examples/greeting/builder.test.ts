import { fromStep, promptArg, sequential, step } from 'stepwright/builder';
import { expect, test } from 'vitest';
import { registry } from '../../../examples/greeting/generated/greeting.registry.js';
import { Greet } from '../../../examples/greeting/greet.tool.js';
import { GreetingGuide } from '../../../examples/greeting/greeting-guide.resource.js';

const { graph } = registry.workflows['personalized-greeting'];
const { tools, resources } = registry;
const registered = { tools: new Map(Object.entries(tools)), resources: new Map(Object.entries(resources)) };

const built = sequential('personalized-greeting', 'generate a personalized greeting')
  .argument('name', "Person's name", true)
  .argument('style', 'Greeting style', {
    required: false,
    schema: { type: 'string', enum: ['formal', 'casual'] },
  })
  .instruction(GreetingGuide)
  .step(step(Greet).arg('name', promptArg('name')).arg('style', promptArg('style')).bind('greeting'));

test('a program builds the steps that the decorated workflow has', () => {
  const { inputs, instructions, nodes } = built.build(registered).graph;
  expect({ inputs, instructions }).toEqual({ inputs: graph.inputs, instructions: graph.instructions });
  expect(nodes.map(withoutPlaces)).toEqual(
    graph.nodes.filter(({ id }) => id === 'greeting').map(withoutPlaces),
  );
});

test('and gets a diagnostic of an unknown binding', () => {
  const faulty = built.step(step(Greet).arg('name', fromStep('greting', 'greeting')).bind('again'));
  const result = faulty.tryBuild(registered);
  expect(result.ok ? [] : result.problems.map(({ message }) => message)).toContain(
    "Step 'again' references unknown binding 'greting'. Available bindings: greeting. Did you mean 'greeting'?",
  );
});

/** Nodes have a source location, which is not a part of their meaning. */
function withoutPlaces(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => (key === 'source' || key === 'at' ? undefined : inner)),
  );
}
