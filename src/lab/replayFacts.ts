/** What each member of a step's `expected` says, in English; translated where it is shown. */
export const factWords: Readonly<Record<string, string>> = {
  status: 'HTTP status of the answer',
  reason: 'Reason of the refusal',
  hasUid: 'The answer holds a UID',
  hasToken: 'The answer holds a token',
  tokensEqual: 'Both were given the same token',
  uidsEqual: 'Both were given the same UID',
  tokenChanged: 'The token is another one',
  uidSame: 'The UID is the same',
  nothingChanged: 'The object is as it was',
  tokenIsBens: 'The token is that of Ben’s write',
  seesBen: 'Ben’s change is in it',
  count: 'The count that is stored',
  benKept: 'Ben’s change is still there',
  bensUpdateLost: 'Ben’s second change is lost',
  deleted: 'HTTP status of the delete',
  sameName: 'The name is the same',
  sameUid: 'The UID is the same',
  stillThere: 'The object is still there',
  owners: 'Owners of the field',
  cause: 'Cause that the answer names',
  field: 'Field that the answer names',
  namesOwner: 'The answer names the owner',
  wouldOwn: 'Who would own the field',
  stillOwns: 'Who owns it now',
  stored: 'The value that is stored',
};

/** The words of a fact; its own name where there are none. */
export function wordsOfFact(name: string): string {
  return factWords[name] ?? name;
}
