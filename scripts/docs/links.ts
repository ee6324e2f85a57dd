// Links as the contract spells them, #section/<heading>, #operation/<operationId> and #tag/<tag>, and where Redoc 3 has
// their targets. For one that leads nowhere it shows "No page at this address", which nobody sees until a reader clicks.
import type { Contract } from './contract.ts';

/** In lower case, as Redoc takes them. */
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
