import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const german = JSON.parse(readFileSync(join(root, 'l10n/bundle.l10n.de.json'), 'utf8')) as Record<string, string>;
const TAG = 'message`';

/** The keys of the messages that are written in a source, those within others too. */
function messagesIn(source: string): string[] {
  const found: string[] = [];
  for (let at = source.indexOf(TAG); at >= 0; at = source.indexOf(TAG, at + 1)) {
    if (!/[\w`]/.test(source[at - 1] ?? '')) found.push(templateAt(source, at + TAG.length).sentence);
  }
  return found.filter((sentence) => /\p{L}/u.test(sentence.replaceAll(/\{\d+\}/g, '')));
}

/** The template whose text begins at an index, with `{0}`, `{1}` … for its places, and the index behind its end. */
function templateAt(source: string, start: number): { readonly sentence: string; readonly end: number } {
  let [sentence, place, at] = ['', 0, start];
  while (source[at] !== '`') {
    if (source.startsWith('${', at)) {
      sentence += `{${place}}`;
      place += 1;
      at = behindPlace(source, at + 2);
    } else {
      if (source[at] === '\\') at += 1;
      sentence += source[at];
      at += 1;
    }
    assert.ok(at < source.length, 'a template ends');
  }
  return { sentence, end: at + 1 };
}

function behindPlace(source: string, start: number): number {
  let [depth, at] = [1, start];
  while (depth > 0) {
    const letter = source[at] ?? '';
    if (letter === '`') at = templateAt(source, at + 1).end;
    else if (letter === "'" || letter === '"') at = source.indexOf(letter, at + 1) + 1;
    else {
      depth += Number(letter === '{') - Number(letter === '}');
      at += 1;
    }
    assert.ok(at > 0 && at <= source.length, 'a place of a template ends');
  }
  return at;
}

describe('what is written as a message', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  const sourceOf = (file: string): string => readFileSync(join(root, file), 'utf8');

  it('is found in the sources as a program finds it', () => {
    assert.deepEqual(
      messagesIn("message`a ${b === '}' ? message`c \\`d\\` ${`${e}`}` : f({ g })} h ${i}` + message`${j}`"),
      ['a {0} h {1}', 'c `d` {0}'],
    );
  });

  it('has its German', () => {
    const written = files
      .map(sourceOf)
      .filter((source) => /from '[./]+\/message\.ts'|from '[./]+base\/message\.ts'/.test(source))
      .flatMap(messagesIn);
    assert.ok(written.length > 300, `${written.length} messages`);
    assert.deepEqual(
      written.filter((sentence) => !Object.hasOwn(german, sentence)),
      [],
    );
  });

  it('is each sentence and advice of a failure below the editor and the command line', () => {
    const plain = files
      .filter((file) => !/^src\/(editor|cli)\//.test(file.replaceAll('\\', '/')))
      .flatMap((file) => {
        const source = sourceOf(file);
        const failures = source.matchAll(/new AppError\(\s*[^,]+,\s*(['"`][^\n]*)/g);
        const advices = /new AppError\(/.test(source) ? source.matchAll(/\badvice:\s*(['"`][^\n]*)/g) : [];
        return [...failures, ...advices].map(([, text]) => `${file}: ${text}`);
      });
    assert.deepEqual(plain, []);
  });
});
