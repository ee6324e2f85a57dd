// Maps the links in the contract (#section/<heading>, #operation/<operationId>, #tag/<tag>) to the URLs of Redoc 3, and
// finds broken ones. Redoc reports a broken link only when a reader clicks on it.
import type { Contract } from './contract.ts';

/** Keys in lower case, because Redoc compares links in lower case. */
export function addresses(contract: Contract): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name } of contract.tags) found[`#tag/${slug(name)}`] = `#/${slug(name)}`;
  for (const items of [contract.paths, contract.webhooks])
    for (const { operationId, tags } of Object.values(items).flatMap((item) => Object.values(item))) {
      const id = operationId.toLowerCase();
      found[`#operation/${id}`] = `#/${slug(tags[0])}/${id}`;
    }
  return found;
}

export function brokenLinks(contract: Contract, text: string, page: string): string[] {
  const headings = [...page.matchAll(/ id="(section\/[^"]+)"/g)].map(([, id = '']) => `#${id}`);
  const targets = new Set([...headings, ...Object.keys(addresses(contract))]);
  const links = [...text.matchAll(/\]\((#[^)\s]*)\)/g)].map(([, link = '']) => link);
  return [...new Set(links)].filter((link) => !targets.has(link.toLowerCase()));
}

const slug = (name: string) => name.toLowerCase().replaceAll(/\s+/g, '-');
