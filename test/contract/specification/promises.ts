/** Every promise of the specification that the contract must keep. */
import { faultsOf, type Aspect } from './checker.ts';
import type { Contract, Place } from './document.ts';
import { operationPromises } from './endpoints.ts';
import type { Rule } from './notation.ts';
import { operations, type Operation } from './operations.ts';
import { answerAt, type Promised } from './promised.ts';
import * as resources from './resources.ts';
import { documentPromises, webhookPromises } from './whole.ts';

const fieldPromises: Record<Aspect, string> = {
  fields: 'has exactly the fields of the specification',
  presence: 'always has every field but those that the specification leaves out',
  null: 'has null exactly where the specification allows it',
  types: 'has the JSON types and formats of the specification',
  values: 'has exactly the constants and the whole value sets of the specification',
  limits: 'has exactly the lengths, patterns, ranges and defaults of the specification',
  closed: 'has no room for other properties',
};

/** One promise for each aspect of an object and of every object inside it. */
function tablePromises(
  group: string,
  name: string,
  rule: Rule,
  find: (contract: Contract) => Place,
): Promised[] {
  const own = Object.entries(fieldPromises).map(([aspect, promise]) => ({
    group,
    name: `${name} ${promise}`,
    faults: (contract: Contract) => {
      const place = find(contract);
      const faults = faultsOf(contract, rule, place, false);
      return faults.filter((fault) => fault.aspect === aspect || place.value === undefined);
    },
  }));
  const nested = Object.entries(rule.fields ?? {}).flatMap(([field, inner]) => {
    const entry = inner.items ?? inner;
    if (!entry.fields || entry.open) return [];
    return tablePromises(group, `${name}.${field}`, entry, (contract) => {
      const property = propertyAt(contract, find(contract), field);
      return inner.items ? itemsAt(contract, property) : property;
    });
  });
  return [...own, ...nested];
}

function propertyAt(contract: Contract, place: Place, field: string): Place {
  const missing = { pointer: `${place.pointer}/properties/${field}`, value: undefined };
  return contract.view(place).properties.get(field) ?? missing;
}

function itemsAt(contract: Contract, place: Place): Place {
  return contract.view(place).items ?? { pointer: `${place.pointer}/items`, value: undefined };
}

function operationById(id: string): Operation {
  const found = operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`No operation ${id}`);
  return found;
}

/** A resource where the API shows it: alone, or as an item of a list. */
function resourcePromises(name: string, rule: Rule, id: string): Promised[] {
  const operation = operationById(id);
  return tablePromises('Resources', name, rule, (contract) => {
    const answer = answerAt(contract, operation, operation.success);
    if (operation.answer === rule) return answer;
    return itemsAt(contract, propertyAt(contract, answer, 'items'));
  });
}

export const promises: Promised[] = [
  ...documentPromises,
  ...resourcePromises('API key pair', resources.apiKeyPair, 'listApiKeyPairs'),
  ...resourcePromises('Gift card balance item', resources.giftCardBalance, 'checkGiftCardBalances'),
  ...resourcePromises('Payment method', resources.paymentMethod, 'createPaymentMethod'),
  ...resourcePromises('Transaction', resources.transaction, 'listTransactions'),
  ...resourcePromises('Card scheme definition', resources.cardSchemeDefinition, 'listCardSchemeDefinitions'),
  ...resourcePromises('Webhook subscription', resources.webhookSubscription, 'createWebhookSubscription'),
  ...resourcePromises(
    'Listed webhook subscription',
    resources.webhookSubscription,
    'listWebhookSubscriptions',
  ),
  ...operations.flatMap(operationPromises),
  ...webhookPromises(),
];
