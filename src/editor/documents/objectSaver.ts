import { FileSystemError, l10n, type Uri } from 'vscode';
import { AppError, isAppError } from '../../base/appError.ts';
import { equalJson, isJsonObject, type JsonObject } from '../../codec/json.ts';
import { parseYaml, type YamlReading } from '../../codec/yaml.ts';
import type { ApiResource } from '../../kube/discovery.ts';
import type { Report } from '../../write/report.ts';
import { describeTarget, identityOf, type Target } from '../../write/target.ts';
import type { ConnectedCluster } from '../clusters/clusters.ts';
import { limited } from '../app/signal.ts';
import { confirmYours, keepYours } from '../writing/keepYours.ts';
import type { ObjectWriter } from '../writing/objectWriter.ts';
import { isDone, outcomeSentence } from '../writing/outcomeWords.ts';
import { parseAddress, type ObjectAddress } from './address.ts';
import type { Decisions } from './decisions.ts';
import { revealed } from './hiddenValues.ts';
import type { LiveDocument } from './liveDocument.ts';
import type { LiveDocuments } from './liveDocuments.ts';
import type { Saver } from './objectFileSystem.ts';
import { refusal } from './refusal.ts';
import type { SaveProblems } from './saveProblems.ts';
import { sentenceOf } from '../app/translated.ts';

const READ_LIMIT_MS = 20_000;

/** Where an address leads: the cluster, the resource and the target with its UID. */
export interface Located {
  readonly connected: ConnectedCluster;
  readonly resource: ApiResource;
  readonly target: Target;
}

/** What saving needs of the rest. */
interface ObjectSaverParts {
  readonly live: LiveDocuments;
  readonly writer: ObjectWriter;
  readonly decisions: Decisions;
  readonly problems: SaveProblems;
  locate(address: ObjectAddress): Promise<Located>;
  readonly onError: (error: unknown) => void;
}

/**
 * A save of a document is a safe write of what a person changed in it. It succeeds only when the change is stored; in every
 * other case it fails with a sentence, and the text stays in the editor byte for byte.
 */
export class ObjectSaver implements Saver {
  private readonly parts: ObjectSaverParts;

  constructor(parts: ObjectSaverParts) {
    this.parts = parts;
  }

  async save(uri: Uri, text: string): Promise<void> {
    try {
      const address = parseAddress(uri);
      if (address.type === 'live') await this.saveLive(uri, address.object, text);
      else if (address.type === 'decision') await this.saveDecision(uri, address.id, text);
      else throw FileSystemError.NoPermissions(l10n.t('This document only shows something.'));
    } catch (error) {
      if (error instanceof FileSystemError) throw error;
      if (!isAppError(error)) this.parts.onError(error);
      throw refusal(sentenceOf(error));
    }
  }

  private async saveLive(uri: Uri, address: ObjectAddress, text: string): Promise<void> {
    const { live, problems } = this.parts;
    const document = await live.get(uri, address);
    const { reading, object } = this.read(uri, text);
    const { base } = document;
    if (base === undefined) {
      throw new AppError(
        'not-found',
        l10n.t(
          'This text was restored, and what it is based on is not known, so that saving could take other changes back.',
        ),
        {
          advice: l10n.t('Copy your change, revert the document, and make the change again.'),
        },
      );
    }
    const desired = this.reveal(uri, document, reading, object, base);
    checkIdentity(document, desired);
    if (equalJson(document.shown(base), document.shown(desired))) {
      document.remember(text, base);
      document.show(text, Date.now());
      document.hold();
      problems.clear(uri);
      return;
    }
    const located = await this.parts.locate(address);
    const report = await this.parts.writer.write({ ...located, intent: { kind: 'edits', base, desired } });
    if (!isDone(report.outcome)) {
      return this.refuse(uri, text, reading, located, report, document.hideKey);
    }
    problems.clear(uri);
    await live.written(document, text, desired, report.object ?? document.stored);
  }

  private async saveDecision(uri: Uri, id: string, text: string): Promise<void> {
    const { decisions, problems, writer } = this.parts;
    const decision = decisions.get(id);
    const { reading, object } = this.read(uri, text);
    const { theirs } = decision;
    const desired = decision.hideKey === undefined ? object : revealed(object, theirs, decision.hideKey).object;
    const { located } = decision;
    const schema = await located.connected.schema(located.resource, limited(READ_LIMIT_MS));
    const name = describeTarget(located.target);
    let report = await writer.write({ ...located, intent: { kind: 'edits', base: theirs, desired } });
    while (report.sides !== undefined && (await confirmYours(name, report, schema)))
      report = await writer.write({ ...located, intent: keepYours(report.sides, schema) });
    if (!isDone(report.outcome)) {
      problems.showRefusal(uri, reading, report);
      if (report.sides !== undefined) decisions.showTheirs(id, report.sides.theirs);
      throw refusal(outcomeSentence(report, name));
    }
    problems.clear(uri);
    await decisions.settle(id, text);
  }

  private read(uri: Uri, text: string): { reading: YamlReading; object: JsonObject } {
    const reading = parseYaml(text);
    const { value, problems } = reading;
    this.parts.problems.showYaml(uri, problems, reading.hints);
    const [first] = problems;
    if (first !== undefined)
      throw new AppError('invalid-yaml', l10n.t('Line {0}: {1}', first.line, first.message), {
        advice: l10n.t('Your text is kept.'),
      });
    if (!isJsonObject(value))
      throw new AppError('invalid-yaml', l10n.t('The text holds no object.'), { advice: l10n.t('Your text is kept.') });
    return { reading, object: value };
  }

  private reveal(
    uri: Uri,
    document: LiveDocument,
    reading: YamlReading,
    object: JsonObject,
    base: JsonObject,
  ): JsonObject {
    if (document.hideKey === undefined) return object;
    const { object: desired, unknown } = revealed(object, base, document.hideKey);
    const [first] = unknown;
    if (first === undefined) return desired;
    const sentence = l10n.t(
      'At {0} stands a hidden value of which nothing is known here. Type the value itself, or revert.',
      first.path.join('.'),
    );
    this.parts.problems.showSentence(uri, sentence, reading, `/${first.path.join('/')}`);
    throw new AppError('invalid-yaml', sentence);
  }

  private async refuse(
    uri: Uri,
    text: string,
    reading: YamlReading,
    located: Located,
    report: Report,
    hideKey: string | undefined,
  ): Promise<never> {
    this.parts.problems.showRefusal(uri, reading, report);
    const sentence = outcomeSentence(report, describeTarget(located.target));
    if (report.outcome !== 'needs-decision' || report.sides === undefined) throw refusal(sentence);
    const hidden = hideKey === undefined ? {} : { hideKey };
    await this.parts.decisions.open({ uri, text, located, sides: report.sides, ...hidden });
    throw refusal(`${sentence} ${l10n.t('Choose in the tab that opened, and save it: that writes.')}`);
  }
}

/** A text may not be saved over another object than the one it was opened for. */
function checkIdentity(document: LiveDocument, desired: JsonObject): void {
  const metadata = desired['metadata'];
  const own = isJsonObject(metadata) ? metadata : {};
  const { address } = document;
  if (own['name'] !== address.name || (own['namespace'] ?? '') !== address.namespace) {
    throw new AppError('usage', l10n.t('The name of an object cannot be changed.'), {
      advice: l10n.t('Put metadata.name and metadata.namespace back.'),
    });
  }
  const { uid } = identityOf(desired);
  if (uid !== '' && uid !== address.uid) {
    throw new AppError('usage', l10n.t('The text carries the UID of another incarnation.'), {
      advice: l10n.t('Put metadata.uid back.'),
    });
  }
}
