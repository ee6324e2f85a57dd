// The contract as others get it. Ours closes all objects, so that a column that leaks into an answer is caught. But a minor
// version may add a field to answers and events, and a validator made from the published contract must accept it.
import { operationsOf, resolve, type Document } from './load.ts';

const closing = ['additionalProperties', 'unevaluatedProperties'];

/** Removes these keywords where no request reaches them. `true` instead would give generated clients an index signature. */
export function publish(document: Document): Document {
  const closed = new Set<unknown>();
  const keepClosed = (node: unknown) => {
    if (typeof node !== 'object' || node === null || closed.has(node)) return;
    closed.add(node);
    keepClosed(resolve(document, node));
    for (const part of Object.values(node)) keepClosed(part);
  };
  for (const { operation } of operationsOf(document))
    keepClosed([operation.parameters, operation.requestBody]);
  // The specification allows it no other properties.
  closed.add(document.components.schemas?.ApiKeyPairCollection);
  const open = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(open);
    if (typeof node !== 'object' || node === null) return node;
    const isClosed = closed.has(node);
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key, value]) => isClosed || value !== false || !closing.includes(key))
        .map(([key, value]) => [key, open(value)]),
    );
  };
  return open(document) as Document;
}
