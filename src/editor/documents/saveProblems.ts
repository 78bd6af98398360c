import {
  Diagnostic,
  DiagnosticSeverity,
  l10n,
  languages,
  Range,
  workspace,
  type DiagnosticCollection,
  type TextDocument,
  type Uri,
} from 'vscode';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';
import type { Disposable } from '../../base/disposable.ts';
import { parseYaml, type YamlProblem, type YamlReading } from '../../codec/yaml.ts';
import type { Report } from '../../write/report.ts';
import { languageId, scheme } from '../app/ids.ts';
import { rangeOfField } from './yamlPlaces.ts';

const PARSE_DELAY_MS = 400;
const source = 'Object Versions';

/** Marks what is wrong with a text at its place: YAML that Kubernetes would not read, and what a server refused. */
export class SaveProblems implements Disposable {
  private readonly yaml: DiagnosticCollection = languages.createDiagnosticCollection(`${scheme}-yaml`);
  private readonly refusals: DiagnosticCollection = languages.createDiagnosticCollection(`${scheme}-refusal`);
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly subscriptions: Disposable[];

  constructor() {
    this.subscriptions = [
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (!isOurs(document) || contentChanges.length === 0) return;
        this.refusals.delete(document.uri);
        this.checkSoon(document);
      }),
      workspace.onDidCloseTextDocument((document) => this.clear(document.uri)),
    ];
  }

  /** Marks the places that a server's refusal names. */
  showRefusal(uri: Uri, reading: YamlReading, report: Report): void {
    const document = find(uri);
    if (document === undefined) return;
    const causes = (report.causes ?? []).map((cause) =>
      diagnostic(
        rangeOfField(reading, cause.field, document),
        inWords(cause.message ?? cause.reason ?? report.outcome, translated),
        DiagnosticSeverity.Error,
      ),
    );
    const conflicts = (report.conflicts ?? []).map((conflict) =>
      diagnostic(
        rangeOfField(reading, conflict.path, document),
        l10n.t('Somebody else changed {0} too: decide which value holds.', conflict.path),
        DiagnosticSeverity.Warning,
      ),
    );
    this.refusals.set(uri, [...causes, ...conflicts]);
  }

  /** Marks the places at which a text cannot be read. */
  showYaml(uri: Uri, problems: readonly YamlProblem[], hints: readonly YamlProblem[] = []): void {
    const document = find(uri);
    if (document === undefined) return;
    const at = (problem: YamlProblem): Range =>
      new Range(document.positionAt(problem.start), document.positionAt(Math.max(problem.end, problem.start + 1)));
    this.yaml.set(uri, [
      ...problems.map((problem) => diagnostic(at(problem), problem.message, DiagnosticSeverity.Error)),
      ...hints.map((hint) => diagnostic(at(hint), hint.message, DiagnosticSeverity.Information)),
    ]);
  }

  /** Marks one sentence at a place of the text, or at its beginning. */
  showSentence(uri: Uri, sentence: string, reading?: YamlReading, field?: string): void {
    const document = find(uri);
    if (document === undefined) return;
    const range = reading === undefined ? document.lineAt(0).range : rangeOfField(reading, field, document);
    this.refusals.set(uri, [diagnostic(range, sentence, DiagnosticSeverity.Error)]);
  }

  clear(uri: Uri): void {
    this.yaml.delete(uri);
    this.refusals.delete(uri);
    clearTimeout(this.timers.get(uri.toString()));
    this.timers.delete(uri.toString());
  }

  dispose(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const item of [...this.subscriptions, this.yaml, this.refusals]) item.dispose();
  }

  private checkSoon(document: TextDocument): void {
    const key = document.uri.toString();
    clearTimeout(this.timers.get(key));
    this.timers.set(
      key,
      setTimeout(() => {
        this.timers.delete(key);
        if (document.isClosed) return;
        const reading = parseYaml(document.getText());
        this.showYaml(document.uri, reading.problems, reading.hints);
      }, PARSE_DELAY_MS),
    );
  }
}

function diagnostic(range: Range, message: string, severity: DiagnosticSeverity): Diagnostic {
  const made = new Diagnostic(range, message, severity);
  made.source = source;
  return made;
}

function isOurs(document: TextDocument): boolean {
  return document.uri.scheme === scheme && document.languageId === languageId;
}

function find(uri: Uri): TextDocument | undefined {
  const wanted = uri.toString();
  return workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}
