// Statements of payments that name no account, and why they cannot: see kit/database/across-accounts.ts. They only read.
export const ownExceptions = {
  'flat-list': 'Citus merges the pages of its servers; it cannot limit each account.',
  'due-replacements':
    'The daily job looks for expired cards of all accounts. Each is changed by its account.',
  'cards-in-processing': 'A metric counts the cards of all accounts that are not verified yet.',
  'import-duplicates': 'IDs are unique over all accounts, so an import may repeat one of another account.',
  'transactions-of-buyer': 'A buyer may be named in any account. What is found is erased by account.',
  'next-rows': 'An erasure goes through the cards and events of all accounts. It erases by account.',
};
