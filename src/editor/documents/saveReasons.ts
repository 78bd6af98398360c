import { TextDocumentSaveReason, workspace, type Disposable, type Uri } from 'vscode';
import { scheme } from '../app/ids.ts';

/**
 * Why a document is about to be saved. VS Code says it just before it writes; only a person's own save may reach a cluster,
 * and what was never announced (a write by another extension) is nobody's save.
 */
export class SaveReasons implements Disposable {
  private readonly announced = new Map<string, TextDocumentSaveReason>();
  private readonly subscription: Disposable;

  constructor() {
    this.subscription = workspace.onWillSaveTextDocument(({ document, reason }) => {
      if (document.uri.scheme === scheme) this.announced.set(document.uri.toString(), reason);
    });
  }

  /** Whether the save that is under way is a person's; asking takes the announcement away. */
  takeIsPersons(uri: Uri): boolean {
    const reason = this.announced.get(uri.toString());
    this.announced.delete(uri.toString());
    return reason === TextDocumentSaveReason.Manual;
  }

  dispose(): void {
    this.subscription.dispose();
  }
}
