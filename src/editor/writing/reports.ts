import { commands, l10n, type Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { Report } from '../../write/report.ts';
import { otherUri } from '../documents/address.ts';
import type { TextShelf } from '../documents/textShelf.ts';
import { reportText, type ReportSubject } from './reportText.ts';

/** The reports of this window's writes, as documents. */
export class Reports {
  private readonly shelf: TextShelf;
  private count = 0;
  private last: Uri | undefined;

  constructor(shelf: TextShelf) {
    this.shelf = shelf;
  }

  /** Keeps a report and gives its document. */
  add(report: Report, subject: ReportSubject): Uri {
    this.count += 1;
    const uri = otherUri('report', String(this.count), `${l10n.t('Report {0}', this.count)}.md`);
    this.shelf.put(uri, reportText(report, subject));
    this.last = uri;
    return uri;
  }

  /**
   * Opens a report, by default the last one.
   * @throws AppError `not-found` where nothing was written yet
   */
  async show(uri = this.last): Promise<void> {
    if (uri === undefined) throw new AppError('not-found', l10n.t('Nothing was written in this window yet.'));
    await commands.executeCommand('markdown.showPreview', uri);
  }
}
