import { commands, workspace, type Uri } from 'vscode';
import { severityOf, type FindingId } from '../../core/findings/finding.ts';
import { otherUri } from '../documents/address.ts';
import type { TextShelf } from '../documents/textShelf.ts';

/** Shows the page of a rule: the packaged one, or a line that says where it is where the package has none. */
export async function showFindingPage(packaged: Uri, id: string, shelf: TextShelf): Promise<void> {
  const there = await workspace.fs.stat(packaged).then(
    () => true,
    () => false,
  );
  if (there) {
    await commands.executeCommand('markdown.showPreview', packaged);
    return;
  }
  const uri = otherUri('report', `finding-${id}`, `${id}.md`);
  const severity = Object.hasOwn(severityOf, id) ? severityOf[id as FindingId] : 'info';
  shelf.put(uri, `# ${id}\n\nSeverity: ${severity}.\n\nIts page is \`docs/findings/${id}.md\` of the source.\n`);
  await commands.executeCommand('markdown.showPreview', uri);
}
