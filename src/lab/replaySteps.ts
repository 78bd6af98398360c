import { isJsonObject, type JsonObject } from '../codec/json.ts';
import {
  dataOf,
  patchTypes,
  textOf,
  tokenOf,
  uidOf,
  uninterrupted,
  withData,
  withToken,
  type Exchange,
  type LabClient,
} from './labClient.ts';
import { metadataOf } from '../write/target.ts';
import type { MadeObjects } from './removal.ts';

/** What the steps share: the object's place, what each writer last read, and what is the lab's own. */
export interface ReplayState {
  readonly name: string;
  readonly collection: string;
  readonly path: string;
  /** What was read or answered last, by label: `ada`, `ben`, `live`, `first`. */
  readonly objects: Map<string, JsonObject>;
  readonly made: MadeObjects;
  readonly client: LabClient;
}

/** One step of the replay. */
export interface ReplayStep {
  readonly id: string;
  readonly title: string;
  /** Asked before the step runs. */
  readonly question: string;
  readonly choices: readonly string[];
  /** The choice that the contract implies. */
  readonly answer: string;
  /** What the contract says will be observed: each member is compared with the observation of the same name. */
  readonly expected: JsonObject;
  /** What is learnt. */
  readonly lesson: string;
  /** Nothing after this step makes sense if it does not hold. */
  readonly essential?: true;
  run(state: ReplayState): Promise<JsonObject>;
}

const remember = (state: ReplayState, label: string, object: JsonObject): void => {
  state.objects.set(label, object);
};
const recall = (state: ReplayState, label: string): JsonObject => state.objects.get(label) ?? {};
const answerOf = ({ reply, answer }: Exchange): JsonObject => ({
  status: reply.status,
  ...(reply.status >= 400 ? { reason: textOf(answer['reason']) } : {}),
});

async function read(state: ReplayState, who: string): Promise<Exchange> {
  const got = await state.client.send(who, 'GET', state.path);
  remember(state, who, got.answer);
  return got;
}

async function put(state: ReplayState, who: string, body: JsonObject): Promise<Exchange> {
  const done = await state.client.send(who, 'PUT', state.path, { body });
  if (done.reply.status === 200) remember(state, 'live', done.answer);
  return done;
}

async function create(state: ReplayState): Promise<Exchange> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: state.name }, data: { count: '1' } };
  const made = await state.made.create(state.path, 'ada', () =>
    state.client.send('ada', 'POST', state.collection, { body, signal: uninterrupted() }),
  );
  if (made.reply.status === 201) remember(state, 'live', made.answer);
  return made;
}

function apply(state: ReplayState, manager: string, colour: string, query: Record<string, string>): Promise<Exchange> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: state.name }, data: { colour } };
  return state.client.send(manager, 'PATCH', state.path, { body, query, contentType: patchTypes.apply });
}

/** The managers that own `.data.colour`, in alphabetical order, joined by a comma. */
function ownersOfColour(object: JsonObject): string {
  const entries = metadataOf(object)['managedFields'];
  const owns = (entry: unknown): boolean => {
    const data = isJsonObject(entry) && isJsonObject(entry['fieldsV1']) ? entry['fieldsV1']['f:data'] : undefined;
    return isJsonObject(data) && Object.hasOwn(data, 'f:colour');
  };
  const managers = Array.isArray(entries)
    ? entries.filter(owns).map((entry) => (isJsonObject(entry) ? textOf(entry['manager']) : ''))
    : [];
  return managers.sort().join(',');
}

const acceptedOrRefused = ['accepted', 'refused'] as const;

/** The steps of the equality-token replay, in order. */
export const replaySteps: readonly ReplayStep[] = [
  {
    id: 'create',
    title: 'Ada creates the object',
    question: 'Who chooses the UID and the first token?',
    choices: ['Ada', 'the server'],
    answer: 'the server',
    expected: { status: 201, hasUid: true, hasToken: true },
    lesson: 'A name locates the object. Its UID names this one life of it. Its token names this one version of it.',
    essential: true,
    async run(state) {
      const made = await create(state);
      remember(state, 'first', made.answer);
      return { ...answerOf(made), hasUid: uidOf(made.answer) !== '', hasToken: tokenOf(made.answer) !== '' };
    },
  },
  {
    id: 'both-read',
    title: 'Ada and Ben read it',
    question: 'Are the two tokens they are given equal?',
    choices: ['equal', 'not equal'],
    answer: 'equal',
    expected: { status: 200, tokensEqual: true, uidsEqual: true },
    lesson: 'The same version has the same token, whoever reads it. Equality is all a token is for.',
    essential: true,
    async run(state) {
      const ada = await read(state, 'ada');
      const ben = await read(state, 'ben');
      return {
        ...answerOf(ben),
        tokensEqual: tokenOf(ada.answer) === tokenOf(ben.answer),
        uidsEqual: uidOf(ada.answer) === uidOf(ben.answer),
      };
    },
  },
  {
    id: 'ben-writes',
    title: 'Ben replaces it, carrying the token he read',
    question: 'Is it accepted?',
    choices: acceptedOrRefused,
    answer: 'accepted',
    expected: { status: 200, tokenChanged: true, uidSame: true },
    lesson:
      'Nobody had written since Ben read: his token is still the current one. The write makes a new version, the incarnation stays.',
    essential: true,
    async run(state) {
      const before = recall(state, 'ben');
      const done = await put(state, 'ben', withData(before, { ben: 'was here' }));
      return {
        ...answerOf(done),
        tokenChanged: tokenOf(done.answer) !== tokenOf(before),
        uidSame: uidOf(done.answer) === uidOf(before),
      };
    },
  },
  {
    id: 'ada-refused',
    title: 'Ada replaces it with what she read before Ben wrote',
    question: 'Is it accepted?',
    choices: acceptedOrRefused,
    answer: 'refused',
    expected: { status: 409, reason: 'Conflict', nothingChanged: true },
    lesson: 'A conflict is evidence that somebody made progress. Nothing was lost, and nothing was written.',
    async run(state) {
      const refused = await put(state, 'ada', withData(recall(state, 'ada'), { count: '2' }));
      const now = await read(state, 'observer');
      return { ...answerOf(refused), nothingChanged: tokenOf(now.answer) === tokenOf(recall(state, 'live')) };
    },
  },
  {
    id: 'ada-refetches',
    title: 'Ada reads again',
    question: 'Which token is she given?',
    choices: ['the one she had', 'the one of Ben’s write'],
    answer: 'the one of Ben’s write',
    expected: { status: 200, tokenIsBens: true, seesBen: true },
    lesson: 'Refetch first: the new content and the new token come together, from one read.',
    async run(state) {
      const got = await read(state, 'ada');
      return {
        ...answerOf(got),
        tokenIsBens: tokenOf(got.answer) === tokenOf(recall(state, 'live')),
        seesBen: dataOf(got.answer, 'ben') !== '',
      };
    },
  },
  {
    id: 'ada-recomputes',
    title: 'Ada computes her change anew and writes',
    question: 'Is it accepted, and is Ben’s change still there?',
    choices: ['accepted, and Ben’s change is there', 'accepted, and Ben’s change is gone', 'refused'],
    answer: 'accepted, and Ben’s change is there',
    expected: { status: 200, count: '2', benKept: true },
    lesson: 'Recompute on what was just read. The token and the content of a write always come from the same read.',
    async run(state) {
      const done = await put(state, 'ada', withData(recall(state, 'ada'), { count: '2' }));
      return { ...answerOf(done), count: dataOf(done.answer, 'count'), benKept: dataOf(done.answer, 'ben') !== '' };
    },
  },
  {
    id: 'swap-refused',
    title: 'Again both read, Ben writes, and Ada is refused',
    question: 'What does the server answer Ada?',
    choices: ['200', '409'],
    answer: '409',
    expected: { status: 409, reason: 'Conflict' },
    lesson: 'The same race as before. This time Ada takes the wrong way out.',
    async run(state) {
      await read(state, 'ada');
      const ben = await read(state, 'ben');
      await put(state, 'ben', withData(ben.answer, { ben: 'came back' }));
      return answerOf(await put(state, 'ada', withData(recall(state, 'ada'), { count: '3' })));
    },
  },
  {
    id: 'swap-loses',
    title: 'Ada reads only to borrow the newest token, and sends her stale content with it',
    question: 'What happens?',
    choices: ['the server refuses the stale content', 'it is accepted, and Ben’s update is lost'],
    answer: 'it is accepted, and Ben’s update is lost',
    expected: { status: 200, bensUpdateLost: true },
    lesson:
      'The server compares the token and nothing else. Swapping the token on a stale object defeats the check: this is the bug.',
    async run(state) {
      const stale = recall(state, 'ada');
      const newest = await read(state, 'observer');
      const done = await put(state, 'ada', withToken(withData(stale, { count: '3' }), tokenOf(newest.answer)));
      return {
        ...answerOf(done),
        bensUpdateLost: dataOf(newest.answer, 'ben') === 'came back' && dataOf(done.answer, 'ben') !== 'came back',
      };
    },
  },
  {
    id: 'recreate',
    title: 'The object is deleted, and one of the same name is created',
    question: 'Is it the same object?',
    choices: ['yes, the name is the same', 'no, the UID is another'],
    answer: 'no, the UID is another',
    expected: { deleted: 200, status: 201, sameName: true, sameUid: false },
    lesson: 'A name is used again, a UID never. What belonged to the first life does not belong to the second.',
    async run(state) {
      const first = recall(state, 'first');
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: uidOf(first) } };
      const gone = await state.client.send('ada', 'DELETE', state.path, { body });
      const made = await create(state);
      const { name } = metadataOf(made.answer);
      return {
        deleted: gone.reply.status,
        ...answerOf(made),
        sameName: name === state.name,
        sameUid: uidOf(made.answer) === uidOf(first),
      };
    },
  },
  {
    id: 'delete-by-uid',
    title: 'A delete that names the UID of the first life',
    question: 'Does it remove the new object?',
    choices: ['yes', 'no, it is refused'],
    answer: 'no, it is refused',
    expected: { status: 409, reason: 'Conflict', stillThere: true },
    lesson: 'A UID precondition holds a delete to the incarnation that was looked at.',
    async run(state) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: uidOf(recall(state, 'first')) } };
      const refused = await state.client.send('ben', 'DELETE', state.path, { body });
      const now = await read(state, 'observer');
      return {
        ...answerOf(refused),
        stillThere: now.reply.status === 200 && uidOf(now.answer) === uidOf(recall(state, 'live')),
      };
    },
  },
  {
    id: 'write-by-uid',
    title: 'A replace that carries the UID of the first life and no token',
    question: 'Is it accepted?',
    choices: acceptedOrRefused,
    answer: 'refused',
    expected: { status: 409, reason: 'Conflict' },
    lesson: 'The UID in the body guards the incarnation even where no token guards the version.',
    async run(state) {
      const { resourceVersion: _token, ...metadata } = metadataOf(recall(state, 'first'));
      return answerOf(await put(state, 'ben', { ...recall(state, 'first'), metadata }));
    },
  },
  {
    id: 'apply',
    title: 'The manager owner applies .data.colour',
    question: 'Who owns the field afterwards?',
    choices: ['owner', 'whoever created the object'],
    answer: 'owner',
    expected: { status: 200, owners: 'owner' },
    lesson:
      'Server-side apply records who is responsible for each field. It is another mechanism than replacing a whole object by token.',
    async run(state) {
      const done = await apply(state, 'owner', 'blue', {});
      return { ...answerOf(done), owners: ownersOfColour(done.answer) };
    },
  },
  {
    id: 'apply-conflict',
    title: 'The manager rival applies another value to it',
    question: 'What does the server answer?',
    choices: ['200, the last one wins', '409, and it names field and owner'],
    answer: '409, and it names field and owner',
    expected: {
      status: 409,
      reason: 'Conflict',
      cause: 'FieldManagerConflict',
      field: '.data.colour',
      namesOwner: true,
      nothingChanged: true,
    },
    lesson:
      'A field conflict is not a stale version: reading again does not help. A person decides who is responsible.',
    async run(state) {
      const refused = await apply(state, 'rival', 'red', {});
      const details = refused.answer['details'];
      const causes = isJsonObject(details) && Array.isArray(details['causes']) ? details['causes'] : [];
      const [first] = causes;
      const cause = isJsonObject(first) ? first : {};
      const now = await read(state, 'observer');
      return {
        ...answerOf(refused),
        cause: textOf(cause['reason']),
        field: textOf(cause['field']),
        namesOwner: textOf(cause['message']).includes('"owner"'),
        nothingChanged: dataOf(now.answer, 'colour') === 'blue',
      };
    },
  },
  {
    id: 'what-force-takes',
    title: 'What force would take, asked for with a dry run',
    question: 'Who would own the field after a forced apply by rival?',
    choices: ['owner', 'rival', 'both'],
    answer: 'rival',
    expected: { status: 200, wouldOwn: 'rival', stillOwns: 'owner', stored: 'blue' },
    lesson:
      'Force takes the field from its owner. It is never a default and never a retry; the dry run showed it without doing it.',
    async run(state) {
      const dry = await apply(state, 'rival', 'red', { force: 'true', dryRun: 'All' });
      const now = await read(state, 'observer');
      return {
        ...answerOf(dry),
        wouldOwn: ownersOfColour(dry.answer),
        stillOwns: ownersOfColour(now.answer),
        stored: dataOf(now.answer, 'colour'),
      };
    },
  },
];
