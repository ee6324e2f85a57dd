// Links within the contract: #section/<heading>, #operation/<operationId>, #tag/<tag>. Redoc shows "No page at this
// address" for one that leads nowhere, which nobody sees until a reader clicks it.
import type { Contract } from './contract.ts';

export function brokenLinks(contract: Contract, text: string, page: string): string[] {
  const targets = new Set([...sections(page), ...operations(contract), ...tags(contract)]);
  const links = [...text.matchAll(/\]\((#[^)\s]*)\)/g)].map(([, link = '']) => link);
  return [...new Set(links)].filter((link) => !targets.has(link.toLowerCase()));
}

const sections = (page: string) =>
  [...page.matchAll(/ id="(section\/[^"]+)"/g)].map(([, id = '']) => `#${id}`);

const operations = (contract: Contract) =>
  [contract.paths, contract.webhooks]
    .flatMap((items) => Object.values(items).flatMap((item) => Object.values(item)))
    .map(({ operationId }) => `#operation/${operationId.toLowerCase()}`);

const tags = (contract: Contract) =>
  contract.tags.map(({ name }) => `#tag/${name.toLowerCase().replaceAll(/\s+/g, '-')}`);
