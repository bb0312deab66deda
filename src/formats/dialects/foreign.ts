import { entryOf, type Located, type LocatedMap } from '../text/located.js';

/** A format that no dialect reads, and how its documents are recognised. */
interface ForeignFormat {
  /** As its users call it. */
  readonly name: string;
  readonly matches: (root: LocatedMap) => boolean;
}

const FORMATS: readonly ForeignFormat[] = [
  { name: 'Arazzo', matches: (root) => hasKeys(root, 'arazzo') },
  {
    name: 'CNCF Serverless Workflow',
    matches: (root) => {
      const document = entryOf(root, 'document')?.value;
      return (document?.kind === 'map' && hasKeys(document, 'dsl')) || hasKeys(root, 'specVersion', 'states');
    },
  },
  { name: 'Amazon States Language', matches: (root) => hasKeys(root, 'StartAt', 'States') },
  { name: 'Argo Workflows', matches: (root) => textOf(root, 'apiVersion').startsWith('argoproj.io/') },
  {
    name: 'n8n',
    matches: (root) => hasKeys(root, 'nodes', 'connections') && valueIn(root, 'nodes')?.kind === 'list',
  },
  {
    name: 'Netflix Conductor',
    matches: (root) => itemsOf(valueIn(root, 'tasks')).some((task) => hasKeys(task, 'taskReferenceName')),
  },
  {
    name: 'Microsoft Conductor',
    matches: (root) =>
      valueIn(root, 'workflow')?.kind === 'map' && itemsOf(valueIn(root, 'agents')).length > 0,
  },
  { name: 'GitHub Actions', matches: (root) => hasKeys(root, 'on', 'jobs') },
  { name: 'GitLab CI', matches: (root) => hasKeys(root, 'stages') && !hasKeys(root, 'workflows') },
  { name: 'OpenAPI', matches: (root) => hasKeys(root, 'openapi') || hasKeys(root, 'swagger') },
  {
    name: 'Google Cloud Workflows',
    matches: (root) => {
      const main = valueIn(root, 'main');
      return main?.kind === 'map' && valueIn(main, 'steps')?.kind === 'list';
    },
  },
  { name: 'Docker Compose', matches: (root) => valueIn(root, 'services')?.kind === 'map' },
];

/** The format of a document that no dialect recognises; undefined if it is unknown. */
export function foreignFormatOf(root: LocatedMap): string | undefined {
  return FORMATS.find(({ matches }) => matches(root))?.name;
}

function valueIn(map: LocatedMap, key: string): Located | undefined {
  return entryOf(map, key)?.value;
}

function hasKeys(map: LocatedMap, ...keys: readonly string[]): boolean {
  return keys.every((key) => entryOf(map, key) !== undefined);
}

function textOf(map: LocatedMap, key: string): string {
  const value = valueIn(map, key);
  return value?.kind === 'text' ? value.value : '';
}

function itemsOf(value: Located | undefined): readonly LocatedMap[] {
  return value?.kind === 'list' ? value.items.filter((item) => item.kind === 'map') : [];
}
